//! Parameters and their values, as a command line gives them: `optimiser=sgd`.

use anyhow::Result;
use wimble::internals::nearest;
use wimble::space::{Configuration, SearchSpace};
use wimble_study::exchange::csv;

use crate::exit::usage;

/// The values of pairs such as `optimiser=sgd`, each of a parameter of the space.
pub fn values(space: &SearchSpace, pairs: &[String]) -> Result<Configuration> {
    let mut configuration = Configuration::new();
    for pair in pairs {
        let Some((name, text)) = pair.split_once('=') else {
            return Err(usage(format!("`{pair}` is not of the form PARAMETER=VALUE")));
        };
        let Some(parameter) = space.parameters().find(|one| one.name == name) else {
            return Err(unknown(space, name));
        };
        if configuration.insert(name, csv::value(parameter, text)?).is_some() {
            return Err(usage(format!("`{name}` is given twice")));
        }
    }
    Ok(configuration)
}

fn unknown(space: &SearchSpace, name: &str) -> anyhow::Error {
    let names: Vec<&str> = space.parameters().map(|one| one.name).collect();
    let all = names.join(", ");
    match nearest(name, names.iter().copied()) {
        Some(near) => {
            usage(format!("there is no parameter `{name}`; did you mean `{near}`? There are {all}"))
        }
        None => usage(format!("there is no parameter `{name}`; there are {all}")),
    }
}
