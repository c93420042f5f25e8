//! Methods in words, as the examples that measure `auto` read them.

use wimble::prelude::*;
use wimble::strategy::Part;

/// A method, and the parts of `auto` that are taken out.
pub struct Ablated {
    spec: Spec,
    without: Vec<Part>,
}

impl Ablated {
    /// The strategy, for batches of this size.
    pub fn build(&self, batch_size: usize) -> wimble::Result<Box<dyn Strategy>> {
        match self.spec.settings::<Auto>() {
            Some(auto) if !self.without.is_empty() => {
                Ok(Box::new(self.without.iter().fold(*auto, |auto, part| auto.without(*part))))
            }
            _ => self.spec.build(batch_size),
        }
    }
}

/// A method; where it is `auto`, each `without=PART` takes a part out.
pub fn ablated(method: &str) -> Result<Ablated, Box<dyn std::error::Error>> {
    let (out, words): (Vec<&str>, Vec<&str>) =
        method.split_whitespace().partition(|word| word.starts_with("without="));
    let spec: Spec = words.join(" ").parse()?;
    let part = |word: &&str| word.trim_start_matches("without=").parse();
    let without: Vec<Part> = out.iter().map(part).collect::<Result<_, _>>()?;
    if !without.is_empty() && spec.settings::<Auto>().is_none() {
        return Err(format!("{} has no parts to leave out", spec.name()).into());
    }
    Ok(Ablated { spec, without })
}
