//! `sslmode` against a real server: what libpq connects to is connected to, and what it refuses is refused.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod server;

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use server::Server;

/// A folder of certificates, made by OpenSSL.
struct Certificates(tempfile::TempDir);

impl Certificates {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn openssl(&self, arguments: &str) {
        let done = Command::new("openssl")
            .args(arguments.split(' '))
            .current_dir(self.0.path())
            .output()
            .unwrap();
        assert!(done.status.success(), "{arguments}: {}", String::from_utf8_lossy(&done.stderr));
    }

    fn authority(&self, name: &str) -> PathBuf {
        self.openssl(&format!(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN={name} \
             -keyout {name}.key -out {name}.crt -addext basicConstraints=critical,CA:TRUE"
        ));
        self.path(&format!("{name}.crt"))
    }

    /// A certificate and its key.
    fn server(&self, authority: &str, host: &str) -> [PathBuf; 2] {
        std::fs::write(self.path("names"), format!("subjectAltName=DNS:{host}\n")).unwrap();
        self.openssl(&format!(
            "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN={host} -keyout {host}.key \
             -out {host}.csr"
        ));
        self.openssl(&format!(
            "x509 -req -in {host}.csr -CA {authority}.crt -CAkey {authority}.key -CAcreateserial -days 2 \
             -extfile names -out {host}.crt"
        ));
        [self.path(&format!("{host}.crt")), self.path(&format!("{host}.key"))]
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Opens the store and reads from it; on failure, what the user is told.
fn reach(host: &str, port: u16, parameters: &str) -> Result<(), String> {
    let address = format!("postgresql://wimble@{host}:{port}/postgres?{parameters}");
    let store = wimble_study::open(&address).map_err(|error| error.to_string())?;
    store.studies().map(drop).map_err(|error| error.to_string())
}

fn root(path: &Path) -> String {
    format!("sslrootcert={}", path.display())
}

#[test]
fn every_sslmode_connects_and_refuses_as_libpq_does() {
    if server::schema("TLS").is_none() {
        return;
    }
    let certificates = Certificates::new();
    let (known, other) = (certificates.authority("known"), certificates.authority("other"));
    let [certificate, key] = certificates.server("known", "localhost");
    let (known, other) = (root(&known), root(&other));
    let (server, port) = (Server::start(), free_port());

    server.listen(port, None);
    for mode in ["disable", "prefer"] {
        assert_eq!(reach("localhost", port, &format!("sslmode={mode}")), Ok(()), "{mode}");
    }
    for mode in ["require", "verify-ca", "verify-full"] {
        let refused = reach("localhost", port, &format!("sslmode={mode}&{known}")).unwrap_err();
        assert!(refused.contains("server does not support TLS"), "{mode}: {refused}");
    }

    // From now on the server takes nothing but TLS, so that whoever is let in speaks it.
    server.listen(port, Some([&certificate, &key]));
    let (right, wrong) = ("localhost", "127.0.0.1");
    for (host, parameters) in [
        (right, String::new()),
        (right, "sslmode=prefer".to_owned()),
        (right, "sslmode=require".to_owned()),
        (wrong, "sslmode=require".to_owned()),
        (right, format!("sslmode=require&{known}")),
        (wrong, format!("sslmode=require&{known}")),
        (right, format!("sslmode=verify-ca&{known}")),
        (wrong, format!("sslmode=verify-ca&{known}")),
        (right, format!("sslmode=verify-full&{known}")),
    ] {
        assert_eq!(reach(host, port, &parameters), Ok(()), "{host} {parameters}");
    }
    for (host, parameters, words) in [
        (right, "sslmode=disable".to_owned(), "no encryption"),
        (right, format!("sslmode=require&{other}"), "invalid peer certificate"),
        (right, format!("sslmode=verify-ca&{other}"), "invalid peer certificate"),
        (right, format!("sslmode=verify-full&{other}"), "invalid peer certificate"),
        // The system knows no authority of this test.
        (right, "sslmode=verify-full&sslrootcert=system".to_owned(), "certificate"),
        (wrong, format!("sslmode=verify-full&{known}"), "not valid for name"),
        (right, "sslmode=verify-full&sslrootcert=nowhere.crt".to_owned(), "cannot be read"),
        (right, "sslmode=sometimes".to_owned(), "write disable, prefer, require"),
    ] {
        let refused = reach(host, port, &parameters).unwrap_err();
        assert!(refused.contains(words), "{host} {parameters}: {refused}");
    }
}
