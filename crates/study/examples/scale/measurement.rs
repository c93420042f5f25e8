//! What is measured: rates with many processes, and the costs of calls with many trials.

use std::io::{BufRead as _, Write as _};
use std::time::{Duration, Instant, SystemTime};

use wimble::prelude::*;
use wimble_study::{Addition, Follower, Outcome, Settings, Study};

use super::{Done, workers};

/// Calls of each kind, of which the median counts.
const CALLS: usize = 51;
/// Trials that are added in one call.
const CHUNK: u64 = 1_000;
/// Trials of each worker before its time begins: a process that starts prepares its statements and reads the history.
const WARM: u64 = 3;

/// A storage.
pub struct Place {
    address: String,
}

/// Trials a second of some processes.
pub struct Rate {
    pub processes: usize,
    pub batch: usize,
    pub rate: f64,
}

/// Medians in seconds, in a study of so many trials.
#[derive(Debug, Clone)]
pub struct Cost {
    pub trials: u64,
    pub ask: f64,
    pub propose: f64,
    pub tell: f64,
    pub heartbeat: f64,
    pub bytes_a_trial: f64,
    /// How long a process reads before its first proposal.
    pub first_read: f64,
    /// The peak memory of a process that asks and tells, in bytes.
    pub memory: f64,
}

impl Place {
    pub fn new(address: &str) -> Self {
        Self { address: address.to_owned() }
    }

    pub fn name(&self) -> &'static str {
        if self.is_server() { "PostgreSQL" } else { "SQLite" }
    }

    fn is_server(&self) -> bool {
        self.address.starts_with("postgres")
    }

    /// With 1, 2, 4, … processes; batches of one, and of as many as there are processes.
    pub fn rates(&self, most: usize, seconds: f64) -> Done<Vec<Rate>> {
        let mut rates = Vec::new();
        let mut processes = 1;
        while processes <= most {
            let batches = if processes == 1 { vec![1] } else { vec![1, processes] };
            for batch in batches {
                let rate = self.rate(processes, 1, batch, seconds)?;
                rates.push(Rate { processes, batch, rate });
            }
            processes *= 2;
        }
        Ok(rates)
    }

    /// Trials a second of so many processes with so many threads each.
    pub fn rate(&self, processes: usize, threads: usize, batch: usize, seconds: f64) -> Done<f64> {
        let name = self.create(&format!("rate-{processes}-{batch}"), batch)?;
        let (seconds, threads) = (seconds.to_string(), threads.to_string());
        let worker = |number: usize| {
            let worker = format!("w{number}");
            workers::spawn(["worker", &self.address, &name, &worker, &threads, &seconds])
        };
        let mut children = (0..processes).map(worker).collect::<Done<Vec<_>>>()?;
        let start = workers::begin(&mut children)?;
        let mut told = 0.0;
        for child in &mut children {
            let mut line = String::new();
            child.1.read_line(&mut line)?;
            told += line.trim().parse::<f64>()?;
            workers::join(&mut child.0)?;
        }
        Ok(told / start.elapsed().as_secs_f64())
    }

    fn create(&self, name: &str, batch: usize) -> Done<String> {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
        let name = format!("{name}-{}", since.as_millis());
        let settings = Settings::new(&name, space()?, "random".parse()?);
        let settings = settings.budget(1 << 40).batch_size(batch);
        Study::open_or_create(wimble_study::open(&self.address)?, settings)?;
        Ok(name)
    }

    /// The costs of calls once there are so many finished trials.
    pub fn costs(&self, trials: u64) -> Done<Cost> {
        let before = self.size()?;
        let name = self.create(&format!("cost-{trials}"), 1)?;
        let study = Study::open(wimble_study::open(&self.address)?, &name)?;
        let space = space()?;
        let mut rng = Seed(1).stream("scale", trials);
        for chunk in 0..trials / CHUNK {
            let one = |i: u64| {
                let configuration = space.decode(&space.sample(&mut rng));
                Addition::finished(format!("{chunk}-{i}"), configuration, Outcome::from(i as f64))
            };
            study.add(&(0..CHUNK).map(one).collect::<Vec<_>>())?;
        }
        let bytes_a_trial = (self.size()? - before) / trials as f64;
        let (mut child, mut output) = workers::spawn(["reader", &self.address, &name])?;
        let mut line = String::new();
        output.read_line(&mut line)?;
        child.wait()?;
        let mut read = line.split_whitespace().map(str::parse::<f64>);
        let mut next = || read.next().ok_or("a reader said nothing");
        let (first_read, memory) = (next()??, next()??);
        study.ask("first", "reads all", 1)?;
        let [mut ask, mut propose, mut tell, mut heartbeat] =
            std::array::from_fn(|_| Vec::with_capacity(CALLS));
        for call in 0..CALLS {
            let worker = format!("w{call}");
            let point = space.decode(&space.sample(&mut rng));
            study.enqueue(&format!("q{call}"), point)?;
            let (claim, took) = timed(|| study.ask(&worker, &format!("a{call}"), 1))?;
            ask.push(took);
            let token = claim[0].token;
            heartbeat.push(timed(|| study.heartbeat(token))?.1);
            tell.push(timed(|| study.tell(token, &Outcome::from(1.0), "t"))?.1);
            let (claim, took) = timed(|| study.ask(&worker, &format!("p{call}"), 1))?;
            propose.push(took);
            study.tell(claim[0].token, &Outcome::from(1.0), "t")?;
        }
        let [ask, propose, tell, heartbeat] = [ask, propose, tell, heartbeat].map(median);
        Ok(Cost { trials, ask, propose, tell, heartbeat, bytes_a_trial, first_read, memory })
    }

    /// In bytes.
    fn size(&self) -> Done<f64> {
        if !self.is_server() {
            let length = |path: &str| std::fs::metadata(path).map_or(0, |file| file.len());
            return Ok((length(&self.address) + length(&format!("{}-wal", self.address))) as f64);
        }
        let base = self.address.split_once('?').map_or(self.address.as_str(), |(base, _)| base);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(base, tokio_postgres::NoTls).await?;
            tokio::spawn(connection);
            let question = "SELECT pg_database_size(current_database())";
            Ok(client.query_one(question, &[]).await?.get::<_, i64>(0) as f64)
        })
    }
}

fn space() -> Done<SearchSpace> {
    Ok(SearchSpace::new([Dimension::real("x", -2.0, 2.0), Dimension::real("y", -2.0, 2.0)])?)
}

fn timed<T>(call: impl FnOnce() -> wimble_study::Result<T>) -> Done<(T, f64)> {
    let start = Instant::now();
    let done = call()?;
    Ok((done, start.elapsed().as_secs_f64()))
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// A process whose threads ask and tell for so long, and which says how often.
pub fn work(address: &str, study: &str, name: &str, threads: usize, seconds: f64) -> Done<()> {
    let study = Study::open(wimble_study::open(address)?, study)?;
    let trial = |worker: &str, number: u64| -> wimble_study::Result<u64> {
        let claims = study.ask(worker, &format!("{worker}-{number}"), 1)?;
        for claim in &claims {
            study.tell(claim.token, &Outcome::from(claim.trial as f64), "t")?;
        }
        Ok(claims.len() as u64)
    };
    for number in 0..WARM {
        trial(name, number)?;
    }
    writeln!(std::io::stdout(), "ready")?;
    std::io::stdin().read_line(&mut String::new())?;
    let start = Instant::now();
    let work = &|thread: usize| -> wimble_study::Result<u64> {
        let (worker, mut told) = (format!("{name}-{thread}"), 0);
        while start.elapsed() < Duration::from_secs_f64(seconds) {
            told += trial(&worker, told)?;
        }
        Ok(told)
    };
    let told = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..threads).map(|thread| scope.spawn(move || work(thread))).collect();
        let told = threads.into_iter().map(|thread| -> Done<u64> {
            match thread.join() {
                Ok(told) => Ok(told?),
                Err(_) => Err("a worker panicked".into()),
            }
        });
        told.sum::<Done<u64>>()
    })?;
    writeln!(std::io::stdout(), "{told}")?;
    Ok(())
}

/// Reads a study as the first ask of a process does; says how long that took, and the peak of its memory.
pub fn read(address: &str, study: &str) -> Done<()> {
    let study = Study::open(wimble_study::open(address)?, study)?;
    let start = Instant::now();
    let mut follower = Follower::new(study.settings());
    follower.catch_up(&**study.store())?;
    let seconds = start.elapsed().as_secs_f64();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|peak| peak.split_whitespace().next()?.parse::<f64>().ok());
    writeln!(std::io::stdout(), "{seconds} {}", peak.unwrap_or(f64::NAN) * 1024.0)?;
    Ok(())
}
