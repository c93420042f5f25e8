//! A connection to the server.
//!
//! Commands are sent together and answered in order, so that a list of them costs one exchange. Each is prepared when
//! it is first used. Parameters are bound, never written into a statement.
//!
//! Behind a [pooler](super::pooler) nothing outlives a transaction. Every command is then part of one, which begins with the
//! settings that a session has otherwise, and statements have no names: the server reads and plans them anew each time.
//!
//! The client waits for an answer as long as the server works on it; see [`target`](super::target).

use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, LazyLock};
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio::time::timeout;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row, SimpleQueryMessage, Statement};

use super::COMMIT;
use super::broken::Broken;
use super::pooler::announced_process;
use super::statements::{BEGIN, ROLLBACK};
use super::target::Target;
use crate::store::columns::Cell;

/// For an answer that is on its way while the server says that it is done.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// What fails when commands do.
const RUNNING: &str = "running a statement";
/// Prepares a session; `local` prepares a transaction instead. Acknowledgements wait for the disk even where the server
/// does not by default; a worker that stops in the middle of a transaction, or waits for one that did, does not do so for
/// ever, but for ten seconds and a minute unless the server or the address says otherwise. Statements are planned when a
/// table is small and used when it is large: every one of them has an index.
fn settings(local: bool) -> String {
    let set = |name: &str, value: &str| format!("set_config('{name}', {value}, {local})");
    let unless_given = |name: &str, open: &str, value: &str| {
        let given = format!("current_setting('{name}')");
        set(name, &format!("CASE {given} WHEN '{open}' THEN '{value}' ELSE {given} END"))
    };
    let all = [
        set("search_path", "$1::text"),
        unless_given("synchronous_commit", "off", "on"),
        unless_given("idle_in_transaction_session_timeout", "0", "10s"),
        unless_given("lock_timeout", "0", "60s"),
        set("default_transaction_isolation", "'read committed'"),
        set("default_transaction_read_only", "'off'"),
        // The server finds out as soon as we do that the other side is gone.
        set("tcp_keepalives_idle", "'10'"),
        set("tcp_keepalives_interval", "'5'"),
        set("tcp_keepalives_count", "'3'"),
        set("enable_seqscan", "'off'"),
        set("enable_bitmapscan", "'off'"),
        // Once, not anew for each of the first five calls of every process.
        set("plan_cache_mode", "'force_generic_plan'"),
    ];
    format!("SELECT {}", all.join(", "))
}

static SESSION: LazyLock<String> = LazyLock::new(|| settings(false));
static TRANSACTION: LazyLock<String> = LazyLock::new(|| settings(true));

/// What a statement may have as a parameter, with the type that it has for the server.
pub(super) trait Parameter: ToSql + Sync + Send + 'static {
    fn kind(&self) -> Type;
}

macro_rules! parameters {
    ($($rust:ty => $server:ident),*) => {
        $(impl Parameter for $rust {
            fn kind(&self) -> Type {
                Type::$server
            }
        })*
    };
}

parameters! {
    i64 => INT8, f64 => FLOAT8, String => TEXT,
    Option<i64> => INT8, Option<String> => TEXT, Option<&'static str> => TEXT,
    Vec<i64> => INT8_ARRAY, Vec<f64> => FLOAT8_ARRAY, Vec<String> => TEXT_ARRAY
}

impl Parameter for Cell<'static> {
    fn kind(&self) -> Type {
        match self {
            // The server finds out.
            Self::Null => Type::UNKNOWN,
            Self::Integer(_) => Type::INT8,
            Self::Real(_) => Type::FLOAT8,
            Self::Text(_) => Type::TEXT,
        }
    }
}

/// A statement with its parameters.
pub(super) struct Command {
    statement: &'static str,
    parameters: Vec<Box<dyn Parameter>>,
}

impl Command {
    pub fn new(statement: &'static str) -> Self {
        Self { statement, parameters: Vec::new() }
    }

    /// With the next parameter.
    pub fn with(mut self, parameter: impl Parameter) -> Self {
        self.parameters.push(Box::new(parameter));
        self
    }

    /// With cells as its next parameters.
    pub fn with_cells<'t>(mut self, cells: impl IntoIterator<Item = Cell<'t>>) -> Self {
        let boxed = |cell: Cell<'t>| Box::new(cell.into_owned()) as Box<dyn Parameter>;
        self.parameters.extend(cells.into_iter().map(boxed));
        self
    }
}

/// An open connection.
pub(super) struct Link {
    target: Arc<Target>,
    runtime: Runtime,
    client: Client,
    /// The server's process behind it; behind a pooler it is another one for each transaction.
    process: Option<i32>,
    /// Whether a transaction is open.
    in_transaction: bool,
    prepared: HashMap<&'static str, Statement>,
}

impl Link {
    pub fn connect(target: &Arc<Target>) -> Result<Self, Broken> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Broken::new("starting a connection", error))?;
        let client = match runtime.block_on(target.connect()) {
            Ok(client) => client,
            Err(broken) => {
                // The search for a host's address may go on for minutes, and cannot be called off.
                runtime.shutdown_background();
                return Err(broken);
            }
        };
        let (target, prepared) = (Arc::clone(target), HashMap::new());
        let mut link =
            Self { target, runtime, client, process: None, in_transaction: false, prepared };
        link.process = link.find_process()?;
        if !link.is_pooled() {
            link.query(link.settings(&SESSION))?;
        }
        Ok(link)
    }

    /// The server's process, unless a pooler is in between.
    fn find_process(&self) -> Result<Option<i32>, Broken> {
        let doing = "asking for the number of its process";
        let announced = self.runtime.block_on(announced_process(&self.client));
        let answer = self.wait(doing, self.client.simple_query("SELECT pg_backend_pid()"))?;
        let answer = answer.map_err(|error| Broken::server(doing, error))?;
        let row = answer.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0),
            _ => None,
        });
        let process = row.and_then(|number| number.parse().ok()).ok_or_else(Broken::empty)?;
        Ok((announced == Some(process)).then_some(process))
    }

    fn is_pooled(&self) -> bool {
        self.process.is_none()
    }

    fn settings(&self, statement: &'static str) -> Command {
        Command::new(statement).with(self.target.schema.clone())
    }

    pub fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// One command.
    pub fn query(&mut self, command: Command) -> Result<Vec<Row>, Broken> {
        Ok(self.run(&[command])?.pop().unwrap_or_default())
    }

    /// Begins a transaction for statements that are sent later.
    pub fn begin(&mut self) -> Result<(), Broken> {
        self.query(Command::new(BEGIN)).map(|_| ())
    }

    /// Statements without parameters or answers, many in one text, inside of a transaction or ending one.
    pub fn execute(&mut self, statements: &str) -> Result<(), Broken> {
        if [COMMIT, ROLLBACK].contains(&statements) {
            self.in_transaction = false;
        }
        let doing = "changing the schema";
        let done = self.wait(doing, self.client.batch_execute(statements))?;
        done.map_err(|error| Broken::server(doing, error))
    }

    /// Commands in order, in one exchange; gives the rows of each, or the first failure.
    pub fn run(&mut self, commands: &[Command]) -> Result<Vec<Vec<Row>>, Broken> {
        if self.is_pooled() {
            return self.run_pooled(commands);
        }
        for command in commands {
            if !self.prepared.contains_key(command.statement) {
                let doing = "preparing a statement";
                let statement = self.wait(doing, self.client.prepare(command.statement))?;
                let statement = statement.map_err(|error| Broken::server(doing, error))?;
                self.prepared.insert(command.statement, statement);
            }
        }
        let (client, prepared) = (&self.client, &self.prepared);
        let answers = commands.iter().map(|command| {
            let parameters: Vec<&(dyn ToSql + Sync)> =
                command.parameters.iter().map(|p| &**p as &(dyn ToSql + Sync)).collect();
            async move { client.query(&prepared[command.statement], &parameters).await }
        });
        let answers = self.wait(RUNNING, in_order(answers.collect()))?;
        answers.into_iter().map(|a| a.map_err(|error| Broken::server(RUNNING, error))).collect()
    }

    /// The same where nothing outlives a transaction.
    fn run_pooled(&mut self, commands: &[Command]) -> Result<Vec<Vec<Row>>, Broken> {
        let (begin, settings) = (Command::new(BEGIN), self.settings(&TRANSACTION));
        let commit = Command::new(COMMIT);
        // What is sent, and whether its answer is asked for.
        let mut all: Vec<(&Command, bool)> = Vec::new();
        let mut own = false;
        for command in commands {
            let ends = [COMMIT, ROLLBACK].contains(&command.statement);
            if command.statement == BEGIN {
                if own {
                    all.push((&commit, false));
                }
                all.extend([(command, true), (&settings, false)]);
                (self.in_transaction, own) = (true, false);
            } else if ends {
                all.push((command, true));
                self.in_transaction = false;
            } else {
                if !self.in_transaction && !own {
                    all.extend([(&begin, false), (&settings, false)]);
                    own = true;
                }
                all.push((command, true));
            }
        }
        if own {
            all.push((&commit, false));
        }
        let client = &self.client;
        let answers = all.iter().map(|(command, _)| {
            let parameters: Vec<(&(dyn ToSql + Sync), Type)> = command
                .parameters
                .iter()
                .map(|p| (&**p as &(dyn ToSql + Sync), p.kind()))
                .collect();
            async move { client.query_typed(command.statement, &parameters).await }
        });
        let answers = self.wait(RUNNING, in_order(answers.collect()))?;
        let mut rows = Vec::with_capacity(commands.len());
        for (answer, (_, asked)) in answers.into_iter().zip(all) {
            let answer = answer.map_err(|error| Broken::server(RUNNING, error))?;
            if asked {
                rows.push(answer);
            }
        }
        Ok(rows)
    }

    /// Waits for an answer while the server works on it.
    fn wait<F: Future>(&self, doing: &'static str, answer: F) -> Result<F::Output, Broken> {
        let Self { target, runtime, process, .. } = self;
        runtime.block_on(async {
            let (since, mut answer) = (Instant::now(), pin!(answer));
            loop {
                if let Ok(answer) = timeout(target.silence, answer.as_mut()).await {
                    return Ok(answer);
                }
                let at_work = match process {
                    Some(process) => target.is_at_work(*process).await,
                    None => false,
                };
                if !at_work {
                    let answer = timeout(LAST_WORDS, answer.as_mut()).await;
                    return answer.map_err(|_| Broken::silent(doing, since.elapsed()));
                }
            }
        })
    }
}

/// Begins all futures in order, and waits for all of them.
async fn in_order<F: Future>(futures: Vec<F>) -> Vec<F::Output> {
    let mut futures: Vec<Pin<Box<F>>> = futures.into_iter().map(Box::pin).collect();
    let mut outputs: Vec<Option<F::Output>> = futures.iter().map(|_| None).collect();
    poll_fn(|context| {
        let mut waiting = false;
        for (future, output) in futures.iter_mut().zip(&mut outputs) {
            if output.is_none() {
                match future.as_mut().poll(context) {
                    Poll::Ready(done) => *output = Some(done),
                    Poll::Pending => waiting = true,
                }
            }
        }
        if waiting { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    outputs.into_iter().flatten().collect()
}
