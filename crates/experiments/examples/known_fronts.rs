//! What is the front of LCBench's sample, which problems with several objectives are measured by?
//!
//! ```sh
//! cargo run --release -p wimble-experiments --example known_fronts -- DATA 3945 7593
//! ```
//!
//! prints, for each task, the extent of the front of a fixed sample of 20,000 networks as `settings/objectives.toml` has it. `DATA` is the folder of
//! `wimble-lab paper --data`.

use std::error::Error;

use wimble_experiments::compare::tasks::{extent, sample};
use wimble_experiments::data::Folder;
use wimble_experiments::data::lcbench::Surrogate;

#[allow(clippy::print_stdout, reason = "an example's answer")]
fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = Folder::new(arguments.next().ok_or("the folder of the data is missing")?);
    for task in arguments {
        let tuning = Surrogate::read(&folder)?.tuning(task.parse()?, 0.0)?;
        let front = extent(&sample(&tuning)?)?;
        println!(
            "lcbench-{task}-2: {{ ideal = {:?}, nadir = {:?}, hypervolume = {:?} }}",
            front.ideal, front.nadir, front.hypervolume
        );
    }
    Ok(())
}
