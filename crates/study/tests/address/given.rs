//! An address with a password in it, and all that is said about it.

use wimble_study::Address;

/// Around whatever else the password is made of. No part of a message looks like it.
const MARK: &str = "s3cr3t-Zq7";

/// Panics if anything that is said about an address of these parts has its password.
pub fn check((place, user, odd, host, rest): (u8, &str, &str, &str, &str)) {
    if [user, odd, host, rest].iter().any(|part| part.contains("s3cr3t") || part.contains("Zq7")) {
        return;
    }
    let password = format!("{MARK}{odd}{MARK}");
    // In a query an `&` that is not encoded ends it, and what follows is a parameter like any other.
    let in_query = password.replace('&', "%26");
    let encoded: String = password.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let address = match place % 9 {
        0 => format!("postgresql://{user}:{password}@{host}/{rest}"),
        1 => format!("postgres://{user}:{password}@{host}?{rest}"),
        2 => format!("postgresql://{host}/{user}?password={in_query}&{rest}"),
        3 => format!("postgresql://{host}/d?{rest}&password={in_query}"),
        4 => format!("http://{user}:{password}@{host}/{rest}"),
        5 => format!("https://:{password}@{host}"),
        6 => format!("host={host} password={password} user={user}"),
        7 => format!("postgresql://{user}:{encoded}@{host}/{rest}"),
        _ => format!("{user}://me:{password}@{host}/{rest}"),
    };
    let mut said = String::new();
    match address.parse::<Address>() {
        Ok(parsed) => {
            said += &format!("{parsed} {parsed:?}");
            if let Err(error) = parsed.check() {
                said += &format!("{error} {error:?}");
            }
        }
        Err(error) => said += &format!("{error} {error:?}"),
    }
    assert!(!said.contains(MARK), "{said}");
    assert!(!said.contains(&encoded), "{said}");
}
