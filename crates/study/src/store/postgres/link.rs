//! A connection, and how it breaks.
//!
//! Commands are sent together and answered in order, so that a list of them costs one exchange. Each is prepared when
//! it is first used. Parameters are bound, never written into a statement.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use tokio::runtime::Runtime;
use tokio_postgres::config::Config;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::tls::{self, Mode};
use crate::error::{Error, Result};
use crate::store::address::without_password;

/// How long to wait for a server that does not answer, unless the address says.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const SILENCE_TIMEOUT: Duration = Duration::from_secs(30);
/// Prepares a session. Acknowledgements wait for the disk even where the server does not by default; a worker that
/// stops in the middle of a transaction, or waits for one that did, does not do so for ever. Statements are planned
/// when a table is small and used when it is large: every one of them has an index.
const SESSION: &str = "SELECT set_config('search_path', $1, false), \
     set_config('synchronous_commit', \
         CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' \
         ELSE current_setting('synchronous_commit') END, false), \
     set_config('idle_in_transaction_session_timeout', '30s', false), \
     set_config('lock_timeout', '60s', false), \
     set_config('enable_seqscan', 'off', false), set_config('enable_bitmapscan', 'off', false)";

/// Where to connect.
pub(super) struct Target {
    /// The address as it may be shown.
    pub place: String,
    pub schema: String,
    config: Config,
    tls: MakeRustlsConnect,
}

impl Target {
    pub fn parse(address: &str) -> Result<Self> {
        let place = without_password(address);
        let refuse = |reason: String| Error::Address { address: place.clone(), reason };
        let (base, query) = address.split_once('?').unwrap_or((address, ""));
        let (mut schema, mut mode, mut root) = ("wimble".to_owned(), Mode::Prefer, None);
        let mut others = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = percent_decode_str(value).decode_utf8_lossy().into_owned();
            match name {
                "sslmode" => mode = value.parse().map_err(refuse)?,
                "sslrootcert" => root = Some(value),
                "schema" => schema = value,
                _ => others.push(pair),
            }
        }
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if schema.is_empty() || schema.len() > 63 || !schema.chars().all(is_plain) {
            return Err(refuse(format!(
                "names the schema `{schema}`; write 1 to 63 lower-case letters, digits and `_`"
            )));
        }
        let mut config: Config = format!("{base}?{}", others.join("&"))
            .parse()
            .map_err(|error| refuse(format!("cannot be understood: {}", chain(&error))))?;
        config.ssl_mode(mode.negotiation());
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(SILENCE_TIMEOUT);
        }
        if config.get_application_name().is_none() {
            config.application_name("wimble");
        }
        let tls = MakeRustlsConnect::new(tls::settings(mode, root.as_deref()).map_err(refuse)?);
        Ok(Self { place, schema, config, tls })
    }
}

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
}

/// An open connection.
pub(super) struct Link {
    runtime: Runtime,
    client: Client,
    prepared: HashMap<&'static str, Statement>,
}

impl Link {
    pub fn connect(target: &Target) -> Result<Self, Broken> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Broken::new("starting a connection", error))?;
        let client = runtime
            .block_on(async {
                let (client, connection) = target.config.connect(target.tls.clone()).await?;
                // It moves on while somebody waits for an answer, and ends with the client. Its errors come with
                // the answers.
                tokio::spawn(connection);
                Ok(client)
            })
            .map_err(|error: tokio_postgres::Error| Broken::server("connecting", error))?;
        let mut link = Self { runtime, client, prepared: HashMap::new() };
        link.query(Command::new(SESSION).with(target.schema.clone()))?;
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
        let done = self.runtime.block_on(self.client.batch_execute(statements));
        done.map_err(|error| Broken::server("changing the schema", error))
    }

    /// Commands in order, in one exchange; gives the rows of each, or the first failure.
    pub fn run(&mut self, commands: &[Command]) -> Result<Vec<Vec<Row>>, Broken> {
        for command in commands {
            if !self.prepared.contains_key(command.statement) {
                let statement = self
                    .runtime
                    .block_on(self.client.prepare(command.statement))
                    .map_err(|error| Broken::server("preparing a statement", error))?;
                self.prepared.insert(command.statement, statement);
            }
        }
        let (client, prepared) = (&self.client, &self.prepared);
        let answers = commands.iter().map(|command| {
            let parameters: Vec<&(dyn ToSql + Sync)> =
                command.parameters.iter().map(|p| &**p as &(dyn ToSql + Sync)).collect();
            async move { client.query(&prepared[command.statement], &parameters).await }
        });
        let failed = |error| Broken::server("running a statement", error);
        self.runtime
            .block_on(in_order(answers.collect()))
            .into_iter()
            .map(|a| a.map_err(failed))
            .collect()
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

/// Why some work ended early.
#[derive(Debug)]
pub(super) struct Broken {
    doing: &'static str,
    cause: Cause,
    committing: bool,
}

#[derive(Debug)]
enum Cause {
    Server(tokio_postgres::Error),
    Here(Box<dyn std::error::Error + Send + Sync>),
    Ours(Box<Error>),
}

impl Broken {
    pub fn new(
        doing: &'static str,
        error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self { doing, cause: Cause::Here(error.into()), committing: false }
    }

    fn server(doing: &'static str, error: tokio_postgres::Error) -> Self {
        Self { doing, cause: Cause::Server(error), committing: false }
    }

    /// An answer that is not of the type expected.
    pub fn reading(error: tokio_postgres::Error) -> Self {
        Self::new("reading an answer", error)
    }

    /// A query of one row that gave none.
    pub fn empty() -> Self {
        Self::new("reading an answer", "it has no rows")
    }

    /// It broke while a commit was under way: nobody knows whether that was done.
    pub fn while_committing(mut self) -> Self {
        self.committing = true;
        self
    }

    pub fn was_committing(&self) -> bool {
        self.committing
    }

    /// Whether it may be otherwise on a new connection: the server was away, or ended the transaction for another's
    /// sake.
    pub fn is_passing(&self) -> bool {
        match &self.cause {
            Cause::Server(error) => match error.code() {
                Some(code) => {
                    code.code().starts_with("08")
                        || self.is_full_or_starting()
                        || [
                            SqlState::ADMIN_SHUTDOWN,
                            SqlState::CRASH_SHUTDOWN,
                            SqlState::T_R_DEADLOCK_DETECTED,
                            SqlState::T_R_SERIALIZATION_FAILURE,
                            SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
                        ]
                        .contains(code)
                }
                // No answer of a server: the connection itself.
                None => error.is_closed() || has_io_source(error),
            },
            Cause::Here(_) | Cause::Ours(_) => false,
        }
    }

    /// Whether a server is there, but takes no connection yet.
    pub fn is_full_or_starting(&self) -> bool {
        let Cause::Server(error) = &self.cause else { return false };
        error.code().is_some_and(|code| {
            [SqlState::TOO_MANY_CONNECTIONS, SqlState::CANNOT_CONNECT_NOW].contains(code)
        })
    }

    pub fn into_error(self, place: &str, waited: Duration) -> Error {
        let (place, doing) = (place.to_owned(), self.doing);
        match self.cause {
            Cause::Ours(error) => *error,
            Cause::Here(source) => Error::Backend { place, doing, source },
            Cause::Server(error) if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) => {
                Error::Busy { place, waited }
            }
            Cause::Server(error) => Error::Backend { place, doing, source: chain(&error).into() },
        }
    }
}

impl From<Error> for Broken {
    fn from(error: Error) -> Self {
        Self { doing: "", cause: Cause::Ours(Box::new(error)), committing: false }
    }
}

fn has_io_source(error: &tokio_postgres::Error) -> bool {
    std::error::Error::source(error).is_some_and(<dyn std::error::Error>::is::<std::io::Error>)
}

/// An error with its causes, which the client's errors leave out.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        // Writing to a string cannot fail.
        let _ = write!(text, ": {cause}");
        next = cause.source();
    }
    text
}
