//! Methods in words, as the examples that measure `auto` read them.

use wimble::prelude::*;
use wimble::strategy::Part;

/// A method; where it is `auto`, each `without=PART` takes a part out.
pub fn ablated(method: &str) -> Result<Spec, Box<dyn std::error::Error>> {
    let (out, words): (Vec<&str>, Vec<&str>) =
        method.split_whitespace().partition(|word| word.starts_with("without="));
    let mut spec: Spec = words.join(" ").parse()?;
    for word in out {
        let part: Part = word.trim_start_matches("without=").parse()?;
        match &mut spec {
            Spec::Auto(auto) => *auto = auto.without(part),
            other => return Err(format!("{} has no parts to leave out", other.name()).into()),
        }
    }
    Ok(spec)
}
