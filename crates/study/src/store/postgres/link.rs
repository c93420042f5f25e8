//! A connection to the server.
//!
//! Commands are sent together and answered in order, so that a list of them costs one exchange. Each is prepared when
//! it is first used. Parameters are bound, never written into a statement.
//!
//! The client waits for an answer as long as the server works on it; see [`target`](super::target).

use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio::time::timeout;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row, Statement};

use super::broken::Broken;
use super::target::Target;
use crate::store::columns::Cell;

/// For an answer that is on its way while the server says that it is done.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// Prepares a session. Acknowledgements wait for the disk even where the server does not by default; a worker that
/// stops in the middle of a transaction, or waits for one that did, does not do so for ever. Statements are planned
/// when a table is small and used when it is large: every one of them has an index.
const SESSION: &str = "SELECT set_config('search_path', $1, false), \
     set_config('synchronous_commit', \
         CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' \
         ELSE current_setting('synchronous_commit') END, false), \
     set_config('idle_in_transaction_session_timeout', '10s', false), \
     set_config('default_transaction_isolation', 'read committed', false), \
     set_config('default_transaction_read_only', 'off', false), \
     set_config('lock_timeout', '60s', false), \
     set_config('enable_seqscan', 'off', false), set_config('enable_bitmapscan', 'off', false), \
     pg_backend_pid()";
/// Where it has the number of the server's process.
const PROCESS: usize = 8;

/// A statement with its parameters.
pub(super) struct Command {
    statement: &'static str,
    parameters: Vec<Box<dyn ToSql + Sync + Send>>,
}

impl Command {
    pub fn new(statement: &'static str) -> Self {
        Self { statement, parameters: Vec::new() }
    }

    /// With the next parameter.
    pub fn with(mut self, parameter: impl ToSql + Sync + Send + 'static) -> Self {
        self.parameters.push(Box::new(parameter));
        self
    }

    /// With cells as its next parameters.
    pub fn with_cells<'t>(mut self, cells: impl IntoIterator<Item = Cell<'t>>) -> Self {
        let boxed = |cell: Cell<'t>| Box::new(cell.into_owned()) as Box<dyn ToSql + Sync + Send>;
        self.parameters.extend(cells.into_iter().map(boxed));
        self
    }
}

/// An open connection.
pub(super) struct Link {
    target: Arc<Target>,
    runtime: Runtime,
    client: Client,
    /// The server's process behind it.
    process: i32,
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
        let mut link = Self { target, runtime, client, process: 0, prepared };
        let session = link.query(Command::new(SESSION).with(link.target.schema.clone()))?;
        let row = session.first().ok_or_else(Broken::empty)?;
        link.process = row.try_get(PROCESS).map_err(Broken::reading)?;
        Ok(link)
    }

    pub fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// One command.
    pub fn query(&mut self, command: Command) -> Result<Vec<Row>, Broken> {
        Ok(self.run(&[command])?.pop().unwrap_or_default())
    }

    /// Statements without parameters or answers, many in one text.
    pub fn execute(&self, statements: &str) -> Result<(), Broken> {
        let doing = "changing the schema";
        let done = self.wait(doing, self.client.batch_execute(statements))?;
        done.map_err(|error| Broken::server(doing, error))
    }

    /// Commands in order, in one exchange; gives the rows of each, or the first failure.
    pub fn run(&mut self, commands: &[Command]) -> Result<Vec<Vec<Row>>, Broken> {
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
        let doing = "running a statement";
        let answers = self.wait(doing, in_order(answers.collect()))?;
        answers.into_iter().map(|a| a.map_err(|error| Broken::server(doing, error))).collect()
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
                if !target.is_at_work(*process).await {
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
