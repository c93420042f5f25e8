//! Is a change of `auto` better? Runs methods on the functions of BBOB and prints the share of the 51 targets
//! 10², 10^1.8, …, 10^-8 that were reached after so many evaluations for each dimension.
//!
//! `cargo run --release --example bbob_targets -- --dims 3,5 --instances 1,2 --batch 10 --out now.txt auto`
//!
//! `--against before.txt` compares run by run with the records of an earlier command: mean difference ± its standard error.
//! `--noise 0.1` adds noise to the values; the deviation is that part of the range of ten random ones. The gap is then the
//! true one of the recommended trial. Constants of `auto` were chosen on instances 1 to 3: report others.
#![allow(clippy::print_stdout, reason = "the output is the example's purpose")]

mod method;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use rand_distr::{Distribution as _, StandardNormal};
use wimble::prelude::*;
use wimble_problems::{Bbob, Problem as _};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Evaluations for each dimension at which a run is looked at.
const BUDGETS: [usize; 5] = [3, 5, 10, 20, 50];
/// The functions that the constants of `auto` were chosen on.
const TUNING: &str = "1,2,5,6,8,9,10,11,12,13,14";

/// A run's name: function, dimension, instance, seed.
type Key = (usize, usize, u64, u64);

/// What is kept of a run, for each budget that it came to.
#[derive(Debug, Clone, Default)]
struct Record {
    shares: Vec<f64>,
    gaps: Vec<f64>,
}

struct Plan {
    functions: Vec<usize>,
    dims: Vec<usize>,
    instances: Vec<u64>,
    seeds: Vec<u64>,
    batch: usize,
    most: usize,
    noise: f64,
    threads: usize,
    out: Option<String>,
    against: Option<String>,
    methods: Vec<String>,
}

fn list<T: std::str::FromStr>(text: &str) -> Result<Vec<T>, T::Err> {
    text.split(',').map(str::parse).collect()
}

impl Plan {
    fn from_arguments() -> Result<Self, Box<dyn std::error::Error>> {
        let mut plan = Self {
            functions: list(TUNING)?,
            dims: vec![3, 5],
            instances: vec![1, 2],
            seeds: vec![1],
            batch: 1,
            most: 50,
            noise: 0.0,
            threads: 1,
            out: None,
            against: None,
            methods: Vec::new(),
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
            match argument.as_str() {
                "--functions" => match value()?.as_str() {
                    "all" => plan.functions = wimble_problems::bbob::FUNCTIONS.collect(),
                    some => plan.functions = list(some)?,
                },
                "--dims" => plan.dims = list(&value()?)?,
                "--instances" => plan.instances = list(&value()?)?,
                "--seeds" => plan.seeds = list(&value()?)?,
                "--batch" => plan.batch = value()?.parse()?,
                "--most" => plan.most = value()?.parse()?,
                "--noise" => plan.noise = value()?.parse()?,
                "--threads" => plan.threads = value()?.parse()?,
                "--out" => plan.out = Some(value()?),
                "--against" => plan.against = Some(value()?),
                _ => plan.methods.push(argument),
            }
        }
        if plan.methods.is_empty() {
            plan.methods.push("auto".to_owned());
        }
        Ok(plan)
    }

    fn keys(&self) -> Vec<Key> {
        let mut keys = Vec::new();
        for &dim in &self.dims {
            for &function in &self.functions {
                for &instance in &self.instances {
                    keys.extend(self.seeds.iter().map(|&seed| (function, dim, instance, seed)));
                }
            }
        }
        keys
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let plan = Plan::from_arguments()?;
    let before = plan.against.as_deref().map(read).transpose()?;
    let mut records = BTreeMap::new();
    for method in &plan.methods {
        let spec = method::ablated(method)?;
        let start = std::time::Instant::now();
        let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
        let keys = plan.keys();
        std::thread::scope(|scope| {
            for _ in 0..plan.threads {
                scope.spawn(|| {
                    while let Some(&key) = keys.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let record = run(key, &spec, &plan).expect("a run");
                        done.lock().expect("no panic").insert(key, record);
                    }
                });
            }
        });
        records = done.into_inner()?;
        let seconds = start.elapsed().as_secs_f64();
        println!("{method}   ({} runs, batches of {}, {seconds:.0} s)", keys.len(), plan.batch);
        report(&records, before.as_ref());
    }
    if let Some(path) = &plan.out {
        write(path, &records)?;
    }
    Ok(())
}

fn run(
    (function, dim, instance, seed): Key,
    spec: &method::Ablated,
    plan: &Plan,
) -> Result<Record, Failure> {
    let bbob = Bbob::new(function, dim, instance);
    let name = |k: usize| format!("x{k}");
    let space = SearchSpace::new((0..dim).map(|k| Dimension::real(name(k), -5.0, 5.0)))?;
    let run_seed = Seed(1000 * seed + instance);
    let mut session = Session::new(space, spec.build(plan.batch)?, Direction::Minimise, run_seed)?;
    let point = |configuration: &Configuration| -> Result<Vec<f64>, Failure> {
        let real = |k: usize| match configuration.get(&name(k)) {
            Some(Value::Real(x)) => Ok(*x),
            other => Err(format!("coordinate {k} is {other:?}").into()),
        };
        (0..dim).map(real).collect()
    };
    let mut rng = run_seed.stream("noise of bbob", 0);
    let deviation = plan.noise * {
        let values = (0..10).map(|_| {
            let x: Vec<f64> =
                (0..dim).map(|_| 10.0 * wimble::internals::uniform(&mut rng) - 5.0).collect();
            bbob.evaluate(&x)
        });
        let (least, most) =
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        most - least
    };
    let mut record = Record::default();
    let mut gaps = Vec::new();
    for budget in BUDGETS.into_iter().filter(|budget| *budget <= plan.most) {
        while gaps.len() < budget * dim {
            let trials = session.ask(plan.batch)?;
            for trial in trials {
                let value = bbob.evaluate(&point(&trial.configuration)?);
                let luck: f64 = StandardNormal.sample(&mut rng);
                let observed = if plan.noise > 0.0 { value + deviation * luck } else { value };
                session.tell(trial.id, observed)?;
                gaps.push(value - bbob.minimum());
            }
        }
        let mut best = gaps[..budget * dim].iter().copied().fold(f64::INFINITY, f64::min);
        if plan.noise > 0.0
            && let Some(kept) = session.recommend()?
        {
            best = bbob.evaluate(&point(&kept.configuration)?) - bbob.minimum();
        }
        let reached = (0..51).filter(|t| best <= 10.0_f64.powf(2.0 - 0.2 * f64::from(*t))).count();
        record.shares.push(reached as f64 / 51.0);
        record.gaps.push(best.max(1e-12).log10());
    }
    Ok(record)
}

fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let square = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    (mean, (square / n).sqrt())
}

fn report(records: &BTreeMap<Key, Record>, before: Option<&BTreeMap<Key, Record>>) {
    let groups: [(&str, &dyn Fn(usize) -> bool); 7] = [
        ("all", &|_| true),
        ("tuning", &|f| list::<usize>(TUNING).is_ok_and(|tuning| tuning.contains(&f))),
        ("f1-5", &|f| f < 6),
        ("f6-9", &|f| (6..10).contains(&f)),
        ("f10-14", &|f| (10..15).contains(&f)),
        ("f15-19", &|f| (15..20).contains(&f)),
        ("f20-24", &|f| f > 19),
    ];
    let shown: Vec<String> = BUDGETS.iter().map(|b| format!("{:>19}", format!("{b}d"))).collect();
    println!("  {:8}{:>5}{}", "group", "runs", shown.join(""));
    for (name, holds) in groups {
        let of_group: Vec<_> = records.iter().filter(|(key, _)| holds(key.0)).collect();
        if of_group.is_empty() {
            continue;
        }
        let mut line = format!("  {name:8}{:5}", of_group.len());
        for at in 0..BUDGETS.len() {
            let values: Vec<f64> =
                of_group.iter().filter_map(|(_, record)| record.shares.get(at).copied()).collect();
            if values.len() < of_group.len() {
                continue;
            }
            let _ = write!(line, "  {:.3}", mean_and_error(&values).0);
            let differences: Vec<f64> = of_group
                .iter()
                .filter_map(|(key, record)| {
                    let other = before?.get(*key)?.shares.get(at)?;
                    Some(record.shares[at] - other)
                })
                .collect();
            match differences.is_empty() {
                true => line.push_str("            "),
                false => {
                    let (mean, error) = mean_and_error(&differences);
                    let _ = write!(line, " {mean:+.3}±{error:.3}");
                }
            }
        }
        println!("{line}");
    }
    let mut line = format!("  {:8}{:5}", "log gap", records.len());
    for at in 0..BUDGETS.len() {
        let values: Vec<f64> = records.values().filter_map(|r| r.gaps.get(at).copied()).collect();
        if values.len() < records.len() {
            continue;
        }
        let _ = write!(line, "  {:+.2}", mean_and_error(&values).0);
        let differences: Vec<f64> = records
            .iter()
            .filter_map(|(key, record)| Some(record.gaps[at] - before?.get(key)?.gaps.get(at)?))
            .collect();
        match differences.is_empty() {
            true => line.push_str("            "),
            false => {
                let (mean, error) = mean_and_error(&differences);
                let _ = write!(line, " {mean:+.2}±{error:.2} ");
            }
        }
    }
    println!("{line}");
}

fn write(path: &str, records: &BTreeMap<Key, Record>) -> std::io::Result<()> {
    let mut text = String::new();
    for ((function, dim, instance, seed), record) in records {
        let _ = write!(text, "{function} {dim} {instance} {seed}");
        for (share, gap) in record.shares.iter().zip(&record.gaps) {
            let _ = write!(text, " {share:.4} {gap:.3}");
        }
        text.push('\n');
    }
    std::fs::write(path, text)
}

fn read(path: &str) -> Result<BTreeMap<Key, Record>, Box<dyn std::error::Error>> {
    let mut records = BTreeMap::new();
    for line in std::fs::read_to_string(path)?.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [function, dim, instance, seed, rest @ ..] = &words[..] else {
            return Err(format!("{path}: {line}").into());
        };
        let mut record = Record::default();
        for pair in rest.chunks_exact(2) {
            record.shares.push(pair[0].parse()?);
            record.gaps.push(pair[1].parse()?);
        }
        let key = (function.parse()?, dim.parse()?, instance.parse()?, seed.parse()?);
        records.insert(key, record);
    }
    Ok(records)
}
