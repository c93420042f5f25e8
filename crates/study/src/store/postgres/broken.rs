//! How work on a connection fails, and whether a new connection may help.

use std::fmt::Write as _;
use std::time::Duration;

use tokio_postgres::error::SqlState;

use crate::error::Error;

/// Why some work ended early.
#[derive(Debug)]
pub(super) struct Broken {
    doing: &'static str,
    cause: Cause,
    committing: bool,
    /// Whether a new connection was tried.
    connecting: bool,
    /// Whether the connection is known to be in no transaction, so that it can be used again.
    reusable: bool,
}

#[derive(Debug)]
enum Cause {
    Server(tokio_postgres::Error),
    /// The server said nothing for this long.
    Silence(Duration),
    Here(Box<dyn std::error::Error + Send + Sync>),
    Ours(Box<Error>),
}

impl Broken {
    fn because(doing: &'static str, cause: Cause) -> Self {
        let reusable = matches!(cause, Cause::Ours(_));
        Self { doing, cause, committing: false, connecting: false, reusable }
    }

    pub fn new(
        doing: &'static str,
        error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::because(doing, Cause::Here(error.into()))
    }

    pub fn server(doing: &'static str, error: tokio_postgres::Error) -> Self {
        Self::because(doing, Cause::Server(error))
    }

    /// No connection was made.
    pub fn connecting(error: tokio_postgres::Error) -> Self {
        Self { connecting: true, ..Self::server("connecting", error) }
    }

    /// A host that takes connections, but does not answer on them.
    pub fn no_greeting(waited: Duration) -> Self {
        Self { connecting: true, ..Self::because("connecting", Cause::Silence(waited)) }
    }

    /// A server that said nothing for this long, and nothing on a new connection either.
    pub fn silent(doing: &'static str, waited: Duration) -> Self {
        Self { connecting: true, ..Self::because(doing, Cause::Silence(waited)) }
    }

    /// An answer that is not of the type expected.
    pub fn reading(error: tokio_postgres::Error) -> Self {
        Self::new("reading an answer", error)
    }

    /// A query of one row that gave none.
    pub fn empty() -> Self {
        Self::new("reading an answer", "it has no rows")
    }

    /// The connection broke during a commit: nobody knows whether it was done.
    pub fn while_committing(mut self) -> Self {
        self.committing = true;
        self
    }

    /// The transaction could not be rolled back.
    pub fn in_a_transaction(mut self) -> Self {
        self.reusable = false;
        self
    }

    /// Whether the connection can be used again. After anything that the server or the network did, what is open on it is
    /// unknown.
    pub fn leaves_a_usable_connection(&self) -> bool {
        self.reusable
    }

    /// Whether the server gave up waiting for a lock.
    pub fn is_lock_timeout(&self) -> bool {
        matches!(&self.cause, Cause::Server(error) if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE))
    }

    pub fn was_committing(&self) -> bool {
        self.committing
    }

    /// Whether a new connection was tried and failed.
    pub fn was_connecting(&self) -> bool {
        self.connecting
    }

    /// Whether it is the server that says so, and not the silence of a network.
    pub fn is_said_by_server(&self) -> bool {
        matches!(&self.cause, Cause::Server(error) if error.code().is_some())
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
            Cause::Silence(_) => true,
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
            Cause::Silence(silence) => {
                let silence = silence.as_secs();
                let source = format!(
                    "the server said nothing for {silence} s; look at the network, and whether it hangs"
                );
                Error::Backend { place, doing, source: source.into() }
            }
            Cause::Server(error) if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) => {
                Error::Busy { place, waited }
            }
            // Statements belong to a connection of the server, which is another one after each transaction.
            Cause::Server(error) if error.code().is_some_and(is_of_a_pooler) => {
                let source = format!(
                    "{}: there seems to be a pooler in transaction mode in between, such as PgBouncer; connect to the \
                     server itself, or to a pool in session mode",
                    chain(&error)
                );
                Error::Backend { place, doing, source: source.into() }
            }
            Cause::Server(error) => Error::Backend { place, doing, source: chain(&error).into() },
        }
    }
}

impl From<Error> for Broken {
    fn from(error: Error) -> Self {
        Self::because("", Cause::Ours(Box::new(error)))
    }
}

/// Whether a statement that was prepared is unknown, or one that was not is known.
fn is_of_a_pooler(code: &SqlState) -> bool {
    [SqlState::INVALID_SQL_STATEMENT_NAME, SqlState::DUPLICATE_PSTATEMENT].contains(code)
}

fn has_io_source(error: &tokio_postgres::Error) -> bool {
    std::error::Error::source(error).is_some_and(<dyn std::error::Error>::is::<std::io::Error>)
}

/// An error with its causes, which the client's errors leave out.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        // Writing to a string cannot fail.
        let _ = write!(text, ": {cause}");
        next = cause.source();
    }
    text
}
