//! How long do a hundred asks of ten trials take, in memory? Prints seconds; `benches/python/overhead.py` compares.

use std::sync::Arc;
use std::time::Instant;

use wimble::prelude::*;
use wimble_study::{Memory, Settings, Study, SystemClock};

fn main() -> wimble_study::Result<()> {
    let names = ["x", "y", "z"];
    let space = SearchSpace::new(names.map(|name| Dimension::real(name, -1.0, 1.0)))?;
    let settings = Settings::new("s", space, "auto".parse()?).budget(i64::MAX as u64);
    let study = Study::open_or_create(Arc::new(Memory::new(SystemClock)), settings)?;
    let began = Instant::now();
    for round in 0..100 {
        for claim in study.ask(&format!("worker-{round}"), &format!("ask-{round}"), 10)? {
            let values = names.map(|name| claim.configuration.get(name).and_then(Value::as_real));
            let value: f64 = values.into_iter().flatten().map(|x| (x - 0.3).powi(2)).sum();
            study.tell(claim.token, &value.into(), &format!("tell-{}", claim.token))?;
        }
    }
    #[allow(clippy::print_stdout, reason = "an example")]
    {
        println!("{}", began.elapsed().as_secs_f64());
    }
    Ok(())
}
