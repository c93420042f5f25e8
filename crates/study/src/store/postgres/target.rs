//! Where to connect, and how long an answer may take.
//!
//! TCP notices a host that is gone, but not one that takes packets and never answers: a machine that is suspended, a
//! proxy that lost its server. `connect_timeout` of the address (10 s) limits reaching a host, and twice that
//! the whole of connecting. `tcp_user_timeout` (30 s) limits how long packets may stay without an acknowledgement, and
//! after how long a silent server is [asked](Target::is_at_work) on a second connection whether it still works on the
//! statement.

use std::time::Duration;

use percent_encoding::percent_decode_str;
use tokio::time::timeout;
use tokio_postgres::config::Config;
use tokio_postgres::{Client, SimpleQueryMessage};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::broken::{Broken, chain};
use super::tls::{self, Mode};
use crate::error::{Error, Result};
use crate::store::address::{if_plain, is_shown, without_password};

/// Default time to wait for a host.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Default time that a server may be silent.
const SILENCE: Duration = Duration::from_secs(30);
/// Defaults of TCP keepalive: the idle time before the first probe, the interval between probes, and their number.
const KEEPALIVE: (Duration, Duration, u32) = (Duration::from_secs(10), Duration::from_secs(5), 3);
/// The client's own idle time before the first probe.
const TWO_HOURS: Duration = Duration::from_secs(2 * 60 * 60);

/// Where to connect.
pub(super) struct Target {
    /// The address as it may be shown.
    pub place: String,
    pub schema: String,
    /// How long a server may be silent before it is asked on a second connection whether it is at work.
    pub silence: Duration,
    /// How long connecting may take. A host may have several addresses, each with a timeout of its own.
    limit: Duration,
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
                _ if is_shown(name) || ["password", "options"].contains(&name) => others.push(pair),
                _ => {
                    return Err(refuse(
                        "has a parameter that is unknown; in a password write %3F for ?, %26 for & and %40 for @"
                            .to_owned(),
                    ));
                }
            }
        }
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if schema.is_empty() || schema.len() > 63 || !schema.chars().all(is_plain) {
            return Err(refuse(format!(
                "names the schema `{}`; write 1 to 63 lower-case letters, digits and `_`",
                if_plain(&schema)
            )));
        }
        let mut config: Config = format!("{base}?{}", others.join("&"))
            .parse()
            .map_err(|error| refuse(format!("cannot be understood: {}", chain(&error))))?;
        config.ssl_mode(mode.negotiation());
        if config.get_application_name().is_none() {
            config.application_name("wimble");
        }
        let connect = *config.get_connect_timeout().unwrap_or(&CONNECT_TIMEOUT);
        let silence = *config.get_tcp_user_timeout().unwrap_or(&SILENCE);
        config.connect_timeout(connect).tcp_user_timeout(silence);
        let (idle, interval, retries) = KEEPALIVE;
        if config.get_keepalives_idle() == TWO_HOURS {
            config.keepalives_idle(idle);
        }
        if config.get_keepalives_interval().is_none() {
            config.keepalives_interval(interval);
        }
        if config.get_keepalives_retries().is_none() {
            config.keepalives_retries(retries);
        }
        let hosts = config.get_hosts().len().max(config.get_hostaddrs().len()).max(1) as u32;
        let limit = connect * (hosts + 1);
        let tls = MakeRustlsConnect::new(tls::settings(mode, root.as_deref()).map_err(refuse)?);
        Ok(Self { place, schema, silence, limit, config, tls })
    }

    /// A new connection, which moves on while the runtime waits for something, and ends with its client.
    pub async fn connect(&self) -> Result<Client, Broken> {
        match timeout(self.limit, self.config.connect(self.tls.clone())).await {
            Ok(Ok((client, connection))) => {
                // Its errors come with the answers.
                tokio::spawn(connection);
                Ok(client)
            }
            Ok(Err(error)) => Err(Broken::connecting(error)),
            Err(_) => Err(Broken::no_greeting(self.limit)),
        }
    }

    /// Whether the server, asked on a connection of its own, still works on a statement of this process. One that takes
    /// no further connection, but says so, is believed to.
    pub async fn is_at_work(&self, process: i32) -> bool {
        let client = match self.connect().await {
            Ok(client) => client,
            Err(broken) => return broken.is_said_by_server(),
        };
        // Where activities are not tracked, that they are not is all that can be seen.
        let question = format!(
            "SELECT 1 FROM pg_stat_activity WHERE pid = {process} AND state IN ('active', 'disabled')"
        );
        match timeout(self.limit, client.simple_query(&question)).await {
            Ok(Ok(answer)) => answer.iter().any(|m| matches!(m, SimpleQueryMessage::Row(_))),
            Ok(Err(error)) => error.code().is_some(),
            Err(_) => false,
        }
    }
}
