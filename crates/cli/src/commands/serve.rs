//! `wimble serve`: studies in the browser, and workers on other machines.

use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::Args;
use wimble_server::{Level, Options, Server, Tokens};
use wimble_study::{Address, Store};

use crate::exit::Usage;
use crate::storage::Storage;

/// Calls of a database at a time. PostgreSQL takes a hundred connections by default, and workers may have some of them.
const CALLS: usize = 8;

/// Arguments of `wimble serve`.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    storage: Storage,
    /// The port to listen on; 0 takes a free one
    #[arg(long, default_value_t = 8765)]
    port: u16,
    /// The address to listen on. Any but 127.0.0.1 and ::1 can be reached from other machines: readers then need a token too
    #[arg(long, value_name = "IP", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    bind: IpAddr,
    /// Let workers ask, tell, send heartbeats and release trials, with a token
    #[arg(long)]
    workers: bool,
    /// Let people create studies, enqueue trials and change budgets, with another token
    #[arg(long)]
    write: bool,
    /// A name under which the server is reached, such as that of a proxy. May be given several times
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
    /// The file that keeps the tokens, so that workers outlast a restart
    /// [default: wimble.tokens beside the storage]
    #[arg(long, value_name = "FILE")]
    tokens: Option<PathBuf>,
    /// The certificate chain for HTTPS, as PEM
    #[arg(long, value_name = "FILE", requires = "key")]
    certificate: Option<PathBuf>,
    /// The private key of the certificate, as PEM
    #[arg(long, value_name = "FILE", requires = "certificate")]
    key: Option<PathBuf>,
}

/// Serves until it is interrupted.
pub fn run(arguments: &Arguments) -> Result<()> {
    let address = arguments.storage.address()?;
    if let Address::Http(_) = address {
        return Err(
            Usage(format!("{address} is served already; open that address in a browser")).into()
        );
    }
    // A file that is not there yet is created: the server may be started before the first study.
    let store = address.open_for_many(CALLS)?;
    // Behind a proxy, everybody comes from this machine.
    let local = arguments.bind.is_loopback() && arguments.host.is_empty();
    let mut levels = Vec::new();
    levels.extend((!local).then_some(Level::Read));
    levels.extend(arguments.workers.then_some(Level::Work));
    levels.extend(arguments.write.then_some(Level::Write));
    let file = arguments.tokens.clone().unwrap_or_else(|| beside(&address));
    let tokens = if levels.is_empty() {
        Tokens::default()
    } else {
        Tokens::from_file(&file, &levels).context("the tokens cannot be kept")?
    };
    let tls = arguments.certificate.clone().zip(arguments.key.clone());
    let encrypted = tls.is_some();
    let options = Options {
        address: SocketAddr::new(arguments.bind, arguments.port),
        tokens: tokens.clone(),
        hosts: arguments.host.clone(),
        tls,
    };
    let mut server = start(store, options)?;

    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "Serving {address}. Stop it with Ctrl-C.\n\n  page     {}",
        server.link(Level::Read)
    )?;
    if tokens.write.is_some() {
        writeln!(
            out,
            "  page with the right to change studies\n           {}",
            server.link(Level::Write)
        )?;
    }
    if let Some(token) = &tokens.work {
        let scheme = if encrypted { "https" } else { "http" };
        let host = match arguments.host.first() {
            Some(host) => format!("{host}:{}", server.address().port()),
            None => server.address().to_string(),
        };
        writeln!(
            out,
            "  workers  WIMBLE_TOKEN={token} wimble run STUDY_FILE --storage {scheme}://{host}"
        )?;
    }
    if !levels.is_empty() {
        writeln!(out, "\nThe tokens are kept in {}.", file.display())?;
    }
    out.flush()?;
    if let Some(warning) = warning(arguments.bind, encrypted) {
        crate::terminal::say(&format!("warning: {warning}"));
    }
    wait()?;
    server.stop();
    Ok(())
}

/// A server for readers of this machine, for as long as it is kept.
pub fn local(storage: &Storage, port: u16) -> Result<Server> {
    let address = storage.address()?;
    if let Address::Http(_) = address {
        return Err(Usage(format!("{address} has a page already; leave out --serve")).into());
    }
    start(address.open_for_many(CALLS)?, Options::local(port))
}

fn start(store: Arc<dyn Store>, options: Options) -> Result<Server> {
    let (ip, port) = (options.address.ip(), options.address.port());
    Server::start(store, options).map_err(|error| match error.kind() {
        std::io::ErrorKind::AddrInUse => anyhow::anyhow!(
            "port {port} of {ip} is in use, perhaps by another `wimble serve`; choose another port"
        ),
        _ => anyhow::Error::new(error).context("the server cannot start"),
    })
}

/// What is said of a server that other machines reach without encryption.
fn warning(bind: IpAddr, encrypted: bool) -> Option<&'static str> {
    (!bind.is_loopback() && !encrypted).then_some(
        "this is not encrypted: whoever sees the network sees the tokens. Give --certificate and --key, or put a proxy with \
         HTTPS before it",
    )
}

/// The file of tokens beside a storage.
fn beside(address: &Address) -> PathBuf {
    match address {
        Address::Sqlite(path) => path.with_file_name("wimble.tokens"),
        _ => PathBuf::from("wimble.tokens"),
    }
}

/// Waits for Ctrl-C, or for the system to end the program.
fn wait() -> Result<()> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    while !stop.load(Ordering::SeqCst) {
        thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_lets_other_machines_in_without_encryption_is_warned() {
        let [local, everywhere] = [Ipv4Addr::LOCALHOST, Ipv4Addr::UNSPECIFIED].map(IpAddr::V4);
        assert!(warning(everywhere, false).is_some_and(|text| text.contains("--certificate")));
        assert_eq!([warning(everywhere, true), warning(local, false)], [None, None]);
    }
}
