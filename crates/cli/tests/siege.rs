//! `wimble serve` under siege, as a process: clients that send a byte at a time or nothing, heads of ten megabytes, a disk that is full,
//! TLS by certificate files. Nothing is lost, and memory stays bounded.
#![cfg(feature = "serve")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod far;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use far::{quiet, study, wimble};

/// A server, ended with the test.
struct Running {
    child: Child,
    said: String,
}

impl Running {
    /// Waits until it listens.
    fn start(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut said = String::new();
        while !said.contains("tokens are kept") {
            if out.read_line(&mut said).unwrap() == 0 {
                let mut wrong = String::new();
                child.stderr.take().unwrap().read_to_string(&mut wrong).unwrap();
                panic!("the server ended: {wrong}");
            }
        }
        Self { child, said }
    }

    /// Its memory in MB, where the system tells it.
    fn memory(&self) -> Option<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find(|line| line.starts_with("VmRSS"))?;
        Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? / 1024.0)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn token(folder: &Path, name: &str) -> String {
    let text = std::fs::read_to_string(folder.join("wimble.tokens")).unwrap();
    serde_json::from_str::<Json>(&text).unwrap()[name].as_str().unwrap().to_owned()
}

fn answer(port: u16, request: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut text = Vec::new();
    drop(stream.read_to_end(&mut text));
    String::from_utf8_lossy(&text).into_owned()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn slow_and_endless_clients_cost_little_and_hold_up_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let port = free_port();
    let server =
        Running::start(wimble(folder.path(), &["serve", "--workers", "--port", &port.to_string()]));
    let head =
        format!("GET /api/studies HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: close\r\n\r\n");
    assert!(answer(port, &head).starts_with("HTTP/1.1 200"));
    let before = server.memory();
    // As many as one client may have: some say nothing, some begin a head, some begin a body.
    let mut open: Vec<TcpStream> = Vec::new();
    for i in 0..560 {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let part: &[u8] = match i % 3 {
            0 => b"",
            1 => b"GET / HTTP/1.1\r\nx-slow: ",
            _ => b"POST /api/store HTTP/1.1\r\nhost: localhost\r\ncontent-length: 4000000\r\n\r\n{",
        };
        drop(stream.write_all(part));
        open.push(stream);
    }
    // A byte now and then keeps nobody waiting; a head of ten megabytes is refused long before its end.
    let part = vec![b'y'; 64 << 10];
    for _ in 0..20 {
        for stream in open.iter_mut().skip(1).step_by(3) {
            drop(stream.write_all(b"z"));
        }
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_write_timeout(Some(Duration::from_secs(5))).unwrap();
        drop(stream.write_all(b"GET / HTTP/1.1\r\nx: "));
        let taken = (0..160).take_while(|_| stream.write_all(&part).is_ok()).count();
        assert!(taken < 160, "ten megabytes of head were taken");
    }
    let asked = Instant::now();
    assert!(answer(port, &head).starts_with("HTTP/1.1 200"));
    let waited = asked.elapsed();
    assert!(waited < Duration::from_secs(5), "{waited:?} for an ordinary request");
    if let (Some(before), Some(during)) = (before, server.memory()) {
        println!(
            "server {before:.1} MB before, {during:.1} MB under siege; an ordinary request took {waited:?}"
        );
        assert!(during < before + 80.0, "{before} MB became {during} MB");
    }
    // Slow heads are let go of after ten seconds, so that their places are free again.
    let start = Instant::now();
    let mut slow = open.swap_remove(1);
    slow.set_read_timeout(Some(Duration::from_secs(40))).unwrap();
    let mut rest = Vec::new();
    drop(slow.read_to_end(&mut rest));
    assert!(
        start.elapsed() < Duration::from_secs(35),
        "a slow head was kept for {:?}",
        start.elapsed()
    );
}

#[test]
fn a_disk_that_is_full_loses_nothing_that_was_acknowledged() {
    let (server_folder, worker_folder) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(worker_folder.path().join("study.toml"), study("")).unwrap();
    let port = free_port();
    // No file may grow past 300 blocks of 512 or 1024 bytes: for the server the disk is full from then on.
    let script = format!(
        "trap '' XFSZ; ulimit -f 300; exec '{}' serve --workers --write --port {port}",
        env!("CARGO_BIN_EXE_wimble")
    );
    let mut command = Command::new("sh");
    command.args(["-c", &script]);
    let server = Running::start(quiet(command, server_folder.path()));
    let storage = format!("http://127.0.0.1:{port}");
    let mut command = wimble(worker_folder.path(), &["run", "study.toml", "--storage", &storage]);
    command.env("WIMBLE_TOKEN", token(server_folder.path(), "write"));
    let mut worker = command.spawn().unwrap();
    let mut lines = BufReader::new(worker.stderr.take().unwrap());
    let mut heard = String::new();
    while !heard.contains("storage unreachable") {
        assert!(
            lines.read_line(&mut heard).unwrap() > 0,
            "the run never met the full disk: {heard}"
        );
    }
    let counted = || -> u64 {
        let output = wimble(server_folder.path(), &["status", "far", "--json"]).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        serde_json::from_str::<Json>(&text)
            .map_or(0, |report| report["counts"]["valued"].as_u64().unwrap_or(0))
    };
    // Readers are still answered, and the page too.
    let head = format!("GET / HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: close\r\n\r\n");
    assert!(answer(port, &head).starts_with("HTTP/1.1 200"));
    drop(server);
    let before = counted();
    assert!(before < 60, "the disk was large enough");
    // Somebody makes room and starts the server again.
    let _server = Running::start(wimble(
        server_folder.path(),
        &["serve", "--workers", "--write", "--port", &port.to_string()],
    ));
    std::thread::spawn(move || drop(std::io::copy(&mut lines, &mut std::io::sink())));
    let output = worker.wait_with_output().unwrap();
    assert!(output.status.success(), "{heard}");
    assert_eq!(counted(), 60, "{heard}");
}

#[test]
fn certificates_make_it_https_and_a_stranger_s_certificate_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let openssl = |arguments: &str| {
        let done = Command::new("openssl")
            .args(arguments.split(' '))
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(done.status.success(), "{arguments}: {}", said(&done));
    };
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
    openssl(&format!(
        "req -x509 {key} -days 2 -subj /CN=authority -keyout ca.key -out ca.pem -addext basicConstraints=critical,CA:TRUE"
    ));
    std::fs::write(folder.path().join("names"), "subjectAltName=DNS:localhost\n").unwrap();
    openssl(&format!("req {key} -subj /CN=localhost -keyout server.key -out server.csr"));
    openssl(
        "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.pem",
    );
    std::fs::write(
        folder.path().join("study.toml"),
        study("").replace("trials = 60", "trials = 8"),
    )
    .unwrap();
    let port = free_port();
    let port_text = port.to_string();
    // A key that does not belong to the certificate is refused at once.
    let wrong = ["serve", "--port", &port_text, "--certificate", "server.pem", "--key", "ca.key"];
    let refused = wimble(folder.path(), &wrong).output().unwrap();
    assert!(!refused.status.success() && said(&refused).contains("ca.key"), "{}", said(&refused));
    let arguments = [
        "serve",
        "--workers",
        "--write",
        "--port",
        &port_text,
        "--host",
        "localhost",
        "--certificate",
        "server.pem",
        "--key",
        "server.key",
    ];
    let server = Running::start(wimble(folder.path(), &arguments));
    assert!(server.said.contains("https://localhost:"), "{}", server.said);
    let run = |trusted: &str| {
        let storage = format!("https://localhost:{port}");
        let arguments = ["run", "study.toml", "--storage", &storage, "--patience", "3s", "--json"];
        let mut command = wimble(folder.path(), &arguments);
        command.env("WIMBLE_TOKEN", token(folder.path(), "write"));
        command.env("SSL_CERT_FILE", folder.path().join(trusted)).env_remove("SSL_CERT_DIR");
        command.output().unwrap()
    };
    openssl(&format!(
        "req -x509 {key} -days 2 -subj /CN=stranger -keyout stranger.key -out stranger.pem -addext basicConstraints=critical,CA:TRUE"
    ));
    let stranger = run("stranger.pem");
    assert!(!stranger.status.success(), "a server was believed whose authority nobody trusts");
    assert!(said(&stranger).to_lowercase().contains("certificate"), "{}", said(&stranger));
    let trusted = run("ca.pem");
    assert!(trusted.status.success(), "{}", said(&trusted));
    // The link sets a cookie that only HTTPS carries; OpenSSL is the browser here.
    let link = server.said.split_whitespace().find(|word| word.contains("?token=")).unwrap();
    let path = link.split_once(&format!(":{port}")).unwrap().1;
    let mut browser = Command::new("openssl")
        .args([
            "s_client",
            "-quiet",
            "-connect",
            &format!("127.0.0.1:{port}"),
            "-servername",
            "localhost",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let request =
        format!("GET {path} HTTP/1.1\r\nhost: localhost:{port}\r\nconnection: close\r\n\r\n");
    browser.stdin.as_mut().unwrap().write_all(request.as_bytes()).unwrap();
    let mut page = String::new();
    drop(browser.stdout.take().unwrap().read_to_string(&mut page));
    drop(browser.wait());
    assert!(page.starts_with("HTTP/1.1 303") && page.contains("; Secure"), "{page}");
    // Plain HTTP to the same port gets nothing.
    let plain = answer(port, &format!("GET / HTTP/1.1\r\nhost: localhost:{port}\r\n\r\n"));
    assert!(!plain.contains("200 OK"), "{plain}");
}
