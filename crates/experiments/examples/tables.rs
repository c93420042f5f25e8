//! How good is a method on tables of tuning problems, one at a time and in batches?
//!
//! ```sh
//! cargo run --release -p wimble-experiments --example tables -- DATA 1,10 0-9 fcnet-slice,list-3945,grid-3945 auto "bore classifier=forest rule=candidates"
//! ```
//!
//! prints a line a run: log10(1 + number of configurations that are truly better) after 30, 50, 100 and 200 evaluations, of the best
//! configuration tried, of the one that the method recommends, and of the one with the lowest value. `DATA` is the folder of
//! `wimble-lab paper --data`. `fcnet-*` are noisy tables of trained networks; `list-TASK` are 2,000 random configurations of
//! LCBench's surrogate, `grid-TASK` is a grid of 6,912, and `+noise` adds noise to them, a fifth of their interquartile range.
#![allow(clippy::print_stdout, reason = "the output is the example's purpose")]

use std::collections::HashMap;
use std::error::Error;

use wimble::goal::Direction;
use wimble::internals::normal;
use wimble::seed::Seed;
use wimble::session::Session;
use wimble::space::{Configuration, Dimension, SearchSpace};
use wimble::strategy::Spec;
use wimble_experiments::data::lcbench::Surrogate;
use wimble_experiments::data::{Folder, fcnet};
use wimble_experiments::objective::{Noise, Objective};

const CHECKPOINTS: [usize; 4] = [30, 50, 100, 200];
const INITIAL: usize = 10;

struct Table {
    space: SearchSpace,
    /// By configuration: what is told, and how many are better.
    rows: Rows,
}

enum Rows {
    /// Observed with noise of its own.
    Fcnet(fcnet::Table),
    /// Values, in order, and the deviation of the noise.
    Values { values: HashMap<String, f64>, sorted: Vec<f64>, deviation: f64 },
}

impl Table {
    fn new(name: &str, data: &Folder) -> Result<Self, Box<dyn Error>> {
        let (name, noisy) = match name.strip_suffix("+noise") {
            Some(name) => (name, true),
            None => (name, false),
        };
        let (kind, task) = name.split_once('-').ok_or(format!("{name} names no table"))?;
        if kind == "fcnet" {
            let dataset = match task {
                "slice" => fcnet::Dataset::Slice,
                "parkinsons" => fcnet::Dataset::Parkinsons,
                _ => return Err(format!("no FCNet table is called {task}").into()),
            };
            let table = fcnet::Table::read(data, dataset, 0.0)?;
            return Ok(Self { space: table.space()?, rows: Rows::Fcnet(table) });
        }
        let tuning = Surrogate::read(data)?.tuning(task.parse()?, 0.0)?;
        let whole = tuning.space()?;
        let (space, configurations): (SearchSpace, Vec<Configuration>) = match kind {
            "list" => {
                let mut rng = Seed(7).stream("table", 0);
                let all: Vec<Configuration> =
                    (0..2000).map(|_| whole.decode(&whole.sample(&mut rng))).collect();
                (SearchSpace::finite(whole.dimensions().to_vec(), all.clone())?, all)
            }
            _ => {
                let side = |(k, dimension): (usize, &Dimension)| {
                    let levels = if k < 4 { 4 } else { 3 };
                    let value = |level: usize| {
                        let mut x = vec![0.5; whole.dim()];
                        x[k] = level as f64 / f64::from(levels - 1);
                        whole.decode(&x).get(&dimension.name).cloned()
                    };
                    let levels = (0..levels as usize).filter_map(value).collect::<Vec<_>>();
                    Dimension::ordinal(dimension.name.clone(), levels)
                };
                let space = SearchSpace::new(whole.dimensions().iter().enumerate().map(side))?;
                let count = space.cardinality().ok_or("the grid is finite")?;
                let all = (0..count).filter_map(|i| space.nth(i)).map(|x| space.decode(&x));
                (space.clone(), all.collect())
            }
        };
        let mut values = HashMap::new();
        for configuration in configurations {
            let noise = Noise { seed: Seed(0), number: 0 };
            let value = tuning.observe(&configuration, noise)?.told;
            values.insert(format!("{configuration:?}"), value);
        }
        let mut sorted: Vec<f64> = values.values().copied().collect();
        sorted.sort_by(f64::total_cmp);
        let quartiles = sorted[3 * sorted.len() / 4] - sorted[sorted.len() / 4];
        let deviation = if noisy { 0.2 * quartiles } else { 0.0 };
        Ok(Self { space, rows: Rows::Values { values, sorted, deviation } })
    }

    /// What is told, and log10(1 + how many are better).
    fn observe(&self, x: &Configuration, noise: Noise) -> Result<(f64, f64), Box<dyn Error>> {
        match &self.rows {
            Rows::Fcnet(table) => {
                let seen = table.observe(x, noise)?;
                let rank = seen.others.iter().find(|other| other.0 == "rank").map_or(0.0, |o| o.1);
                Ok((seen.told, (1.0 + rank).log10()))
            }
            Rows::Values { values, sorted, deviation } => {
                let value = *values.get(&format!("{x:?}")).ok_or("no row of the table")?;
                let better = sorted.partition_point(|&other| other < value);
                let luck = wimble::internals::uniform(&mut noise.stream()).max(f64::EPSILON);
                Ok((value + deviation * normal::quantile(luck), (1.0 + better as f64).log10()))
            }
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut next = |what: &str| arguments.next().ok_or(format!("{what} is missing"));
    let data = Folder::new(next("the folder of the data")?);
    let batches: Vec<usize> =
        next("batch sizes")?.split(',').map(str::parse).collect::<Result<_, _>>()?;
    let seeds = next("seeds")?;
    let (from, to) = seeds.split_once('-').ok_or("seeds are a range such as 0-9")?;
    let seeds = from.parse::<u64>()?..=to.parse()?;
    let tables = next("tables")?;
    let methods: Vec<String> = arguments.collect();
    for name in tables.split(',') {
        let table = Table::new(name, &data)?;
        for seed in seeds.clone() {
            for &batch in &batches {
                for method in &methods {
                    let scores = run(&table, &method.parse()?, batch, seed)?;
                    let cells: Vec<String> = scores.iter().map(|s| format!("{s:.3}")).collect();
                    println!("{name}\t{batch}\t{method}\t{seed}\t{}", cells.join("\t"));
                }
            }
        }
    }
    Ok(())
}

/// Tried, recommended and lowest, for each checkpoint.
fn run(table: &Table, spec: &Spec, batch: usize, seed: u64) -> Result<Vec<f64>, Box<dyn Error>> {
    let strategy = spec.build(batch)?;
    let mut session = Session::new(table.space.clone(), strategy, Direction::Minimise, Seed(seed))?;
    let (mut number, mut tried, mut lowest) = (0, f64::INFINITY, (f64::INFINITY, 0.0));
    let mut scores = Vec::new();
    let mut rng = Seed(seed).stream("initial points", 0);
    for at in CHECKPOINTS {
        while number < at {
            let mut told = |x: &Configuration| -> Result<f64, Box<dyn Error>> {
                let (value, rank) =
                    table.observe(x, Noise { seed: Seed(seed), number: number as u64 })?;
                number += 1;
                tried = tried.min(rank);
                lowest = if value < lowest.0 { (value, rank) } else { lowest };
                Ok(value)
            };
            if scores.is_empty() && session.best().is_none() {
                for _ in 0..INITIAL {
                    let x = table.space.decode(&table.space.sample(&mut rng));
                    let value = told(&x)?;
                    session.observe(&x, value)?;
                }
            }
            for trial in session.ask(batch)? {
                let value = told(&trial.configuration)?;
                session.tell(trial.id, value)?;
            }
        }
        let kept = session.recommend()?.ok_or("trials have values")?;
        let kept = table.observe(&kept.configuration, Noise { seed: Seed(seed), number: 0 })?.1;
        scores.extend([tried, kept, lowest.1]);
    }
    Ok(scores)
}
