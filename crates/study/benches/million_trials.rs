//! What a study of 1,000,000 trials costs, beside one of 1,000: opening, asking for 10, telling, the trial to keep, listing
//! the best and the counts.
//!
//! ```text
//! cargo bench --package wimble-study --bench million_trials [-- TRIALS]
//! ```
//!
//! Methods that train on all evidence, such as `bore`, are timed by `wimble-lab compare latency`.
//!
//! SQLite in a temporary folder; also PostgreSQL where `WIMBLE_TEST_POSTGRES` names a server. Each is filled once, and the
//! methods take turns on the same trials, so that a study has a few hundred more under the last. Medians of
//! 21 calls after the first, which reads the history; of fewer, but at least 3, where those take longer than a minute.

use std::error::Error;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use wimble::prelude::*;
use wimble::strategy::Spec;
use wimble_study::{Addition, Outcome, Settings, Study};

const SMALL: u64 = 1_000;
const LARGE: u64 = 1_000_000;
const CALLS: usize = 21;
const FEWEST_CALLS: usize = 3;
const LONG: Duration = Duration::from_secs(60);
const ASKED: usize = 10;
/// Their own cost does not grow with history: what grows is the study's.
const METHODS: [&str; 2] = ["random", "auto"];

type Done<T> = Result<T, Box<dyn Error>>;

fn main() -> Done<()> {
    let large = std::env::args().skip(1).find_map(|argument| argument.parse().ok());
    let folder = tempfile::tempdir()?;
    let mut places = vec![Place::Sqlite(folder.path().join("studies.db"))];
    if let Ok(server) = std::env::var("WIMBLE_TEST_POSTGRES") {
        let schema = format!("million_{}", std::process::id());
        places.push(Place::Postgres { server, schema });
    }
    for place in &places {
        let sizes = [SMALL, large.unwrap_or(LARGE)];
        for trials in sizes {
            let start = Instant::now();
            fill(place, &trials.to_string(), trials)?;
            say(&format!("{}, {trials} trials: filled in {:.1?}", place.name(), start.elapsed()))?;
        }
        for method in METHODS {
            place.use_method(&method.parse()?)?;
            let mut asks = Vec::new();
            for trials in sizes {
                say(&format!("{}, {method} at {trials} trials", place.name()))?;
                asks.push(measure(place, &trials.to_string(), method)?);
            }
            let ratio = asks[1].as_secs_f64() / asks[0].as_secs_f64();
            say(&format!("{}, {method}: asking costs {ratio:.2} times as much\n", place.name()))?;
        }
        place.clear()?;
    }
    Ok(())
}

fn say(line: &str) -> Done<()> {
    Ok(writeln!(std::io::stdout(), "{line}")?)
}

/// A storage that is measured.
enum Place {
    Sqlite(PathBuf),
    Postgres { server: String, schema: String },
}

impl Place {
    fn name(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "SQLite",
            Self::Postgres { .. } => "PostgreSQL",
        }
    }

    fn address(&self) -> String {
        match self {
            Self::Sqlite(path) => path.display().to_string(),
            Self::Postgres { server, schema } => {
                let joint = if server.contains('?') { '&' } else { '?' };
                format!("{server}{joint}schema={schema}")
            }
        }
    }

    /// Gives all studies another method, which no user may: here it saves filling them again.
    fn use_method(&self, method: &Spec) -> Done<()> {
        let method = serde_json::to_string(method)?;
        match self {
            Self::Sqlite(path) => {
                let file = rusqlite::Connection::open(path)?;
                file.execute("UPDATE studies SET method = ?1", [method])?;
                Ok(())
            }
            Self::Postgres { schema, .. } => {
                let method = method.replace('\'', "''");
                self.execute(&format!("UPDATE {schema}.studies SET method = '{method}'"))
            }
        }
    }

    /// Leaves nothing behind on the server.
    fn clear(&self) -> Done<()> {
        match self {
            Self::Sqlite(_) => Ok(()),
            Self::Postgres { schema, .. } => self.execute(&format!("DROP SCHEMA {schema} CASCADE")),
        }
    }

    fn execute(&self, statement: &str) -> Done<()> {
        let Self::Postgres { server, .. } = self else { return Ok(()) };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let (client, connection) =
                tokio_postgres::connect(server, tokio_postgres::NoTls).await?;
            tokio::spawn(connection);
            Ok(client.batch_execute(statement).await?)
        })
    }
}

/// A study of so many finished trials.
fn fill(place: &Place, name: &str, trials: u64) -> Done<()> {
    let space = SearchSpace::new([
        Dimension::log_real("rate", 1e-5, 1.0),
        Dimension::integer("width", 1, 512),
        Dimension::real("momentum", 0.0, 1.0),
    ])?;
    let settings = Settings::new(name, space, "random".parse()?).budget(10_000).batch_size(ASKED);
    let study = Study::open_or_create(wimble_study::open(&place.address())?, settings)?;
    let mut rng = Seed(1).stream("fill", 0);
    let mut next = 0;
    while next < trials {
        let chunk: Vec<Addition> = (next..trials.min(next + 5_000))
            .map(|trial| {
                let x = study.settings().space.sample(&mut rng);
                let value: f64 = x.iter().map(|x| (x - 0.3).powi(2)).sum();
                let configuration = study.settings().space.decode(&x);
                Addition::finished(trial.to_string(), configuration, Outcome::from(value))
            })
            .collect();
        next += chunk.len() as u64;
        study.add(&chunk)?;
    }
    Ok(())
}

/// Prints medians; gives that of asking.
fn measure(place: &Place, name: &str, method: &str) -> Done<Duration> {
    let start = Instant::now();
    let study = Study::open(wimble_study::open(&place.address())?, name)?;
    let opened = start.elapsed();
    let start = Instant::now();
    let first = study.ask("w", &format!("{method} first"), ASKED)?;
    let loaded = start.elapsed();
    for claim in &first {
        study.tell(claim.token, &Outcome::from(1.0), "t")?;
    }
    let (mut asks, mut tells, mut keeps) = (vec![], vec![], vec![]);
    let (mut bests, mut counts) = (vec![], vec![]);
    let began = Instant::now();
    for call in 0..CALLS {
        if call >= FEWEST_CALLS && began.elapsed() > LONG {
            break;
        }
        let start = Instant::now();
        let claims = study.ask("w", &format!("{method} {call}"), ASKED)?;
        asks.push(start.elapsed());
        for claim in &claims {
            let start = Instant::now();
            study.tell(claim.token, &Outcome::from(1.0), "t")?;
            tells.push(start.elapsed());
        }
        let start = Instant::now();
        assert!(study.recommend()?.is_some());
        keeps.push(start.elapsed());
        let start = Instant::now();
        assert_eq!(study.best_trials(10)?.len(), 10);
        bests.push(start.elapsed());
        let start = Instant::now();
        study.counts()?;
        counts.push(start.elapsed());
    }
    let ask = median(&mut asks);
    say(&format!(
        "  open {opened:.1?}, first ask {loaded:.1?}; then ask(10) {ask:.1?}, tell {:.1?}, recommend {:.1?}, \
         best(10) {:.1?}, counts {:.1?}",
        median(&mut tells),
        median(&mut keeps),
        median(&mut bests),
        median(&mut counts),
    ))?;
    Ok(ask)
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
