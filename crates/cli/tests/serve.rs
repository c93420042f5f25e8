//! `wimble serve`, `advise` and `mcp` as processes: workers that outlast a server that is killed, tokens that stay private.
#![cfg(all(feature = "serve", feature = "mcp"))]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod far;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use far::{study, wimble};

/// A process that is ended with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Starts a server and waits until it listens.
fn serve(folder: &Path, port: u16) -> Running {
    let port = port.to_string();
    let mut child =
        wimble(folder, &["serve", "--workers", "--write", "--port", &port]).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("tokens are kept") {
        line.clear();
        let read = out.read_line(&mut line).unwrap();
        if read == 0 {
            let mut said = String::new();
            child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
            panic!("the server ended: {said}");
        }
    }
    Running(child)
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn token(folder: &Path, name: &str) -> String {
    let text = std::fs::read_to_string(folder.join("wimble.tokens")).unwrap();
    serde_json::from_str::<Json>(&text).unwrap()[name].as_str().unwrap().to_owned()
}

#[test]
fn workers_outlast_a_server_that_is_killed() {
    let (server_folder, worker_folder) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(worker_folder.path().join("study.toml"), study("echo $WIMBLE_TOKEN >> seen; "))
        .unwrap();
    let port = free_port();
    let server = serve(server_folder.path(), port);
    let storage = format!("http://127.0.0.1:{port}");
    let run = |level: &str| {
        let mut command =
            wimble(worker_folder.path(), &["run", "study.toml", "--storage", &storage, "--json"]);
        command.env("WIMBLE_TOKEN", token(server_folder.path(), level));
        command
    };
    // A worker may work on studies that exist, and make none.
    let refused = run("workers").output().unwrap();
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("wimble serve --write"), "{said}");
    assert!(!said.contains(&token(server_folder.path(), "workers")));

    let worker = run("write").spawn().unwrap();
    let counts = || -> u64 {
        let output = wimble(server_folder.path(), &["studies", "--json"]).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().next().map_or(0, |line| {
            let study: Json = serde_json::from_str(line).unwrap();
            study["counts"]["valued"].as_u64().or_else(|| study["valued"].as_u64()).unwrap_or(0)
        })
    };
    let start = Instant::now();
    while counts() < 10 {
        assert!(start.elapsed() < Duration::from_secs(60), "nothing is told");
        std::thread::sleep(Duration::from_millis(50));
    }
    // Dropped: killed without a chance to say anything.
    drop(server);
    let before = counts();
    std::thread::sleep(Duration::from_millis(700));
    assert!(before < 60, "the run ended before the server did");
    let _server = serve(server_folder.path(), port);
    let output = worker.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    assert_eq!(counts(), 60, "{said}");
    // The command does not see the token.
    let seen = std::fs::read_to_string(worker_folder.path().join("seen")).unwrap();
    assert!(seen.trim().is_empty(), "{seen}");

    let advice = wimble(server_folder.path(), &["advise", "far", "--json"]).output().unwrap();
    let text = String::from_utf8(advice.stdout).unwrap();
    assert!(text.lines().all(|line| {
        serde_json::from_str::<Json>(line).is_ok_and(|piece| piece["message"].is_string())
    }));
    assert!(text.contains("\"kind\":\"gain\""), "{text}");
}

#[test]
fn a_run_has_a_page_of_its_own_while_it_lasts() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("study.toml"), study("")).unwrap();
    let port = free_port();
    let run = wimble(folder.path(), &["run", "study.toml", &format!("--serve={port}")]).spawn();
    let summary = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        let head = format!("host: 127.0.0.1:{port}\r\nconnection: close\r\n\r\n");
        write!(stream, "GET /api/studies/far/summary HTTP/1.1\r\n{head}")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    };
    let start = Instant::now();
    while !summary().is_ok_and(|text| text.contains("\"name\":\"far\"")) {
        assert!(start.elapsed() < Duration::from_secs(30), "there is no page");
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = run.unwrap().wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()).concat();
    assert!(said.contains(&format!("the page is at http://127.0.0.1:{port}/")), "{said}");
    assert!(said.contains("To open it again: wimble serve\n"), "{said}");
    assert!(summary().is_err(), "the page outlived the run");
}

#[test]
fn an_agent_speaks_over_standard_input_and_output() {
    let folder = tempfile::tempdir().unwrap();
    let mut child =
        Running(wimble(folder.path(), &["mcp", "--write"]).stdin(Stdio::piped()).spawn().unwrap());
    let mut input = child.0.stdin.take().unwrap();
    let mut output = BufReader::new(child.0.stdout.take().unwrap());
    let mut ask = |request: Json| {
        writeln!(input, "{request}").unwrap();
        input.flush().unwrap();
        if request.get("id").is_none() {
            return Json::Null;
        }
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    };
    let hello = ask(json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } }));
    assert_eq!(hello["result"]["serverInfo"]["name"], "wimble", "{hello}");
    ask(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let tools = ask(json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }));
    assert!(tools["result"]["tools"].as_array().unwrap().len() > 10, "{tools}");
    let listed = ask(
        json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": { "name": "list_studies", "arguments": {} } }),
    );
    assert_eq!(listed["result"]["structuredContent"]["studies"], json!([]), "{listed}");
}

#[test]
fn a_wrong_start_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    for (arguments, words) in [
        (vec!["serve", "--port", &port], "is in use"),
        (vec!["serve", "--storage", "http://127.0.0.1:1"], "is served already"),
        (vec!["serve", "--certificate", "none.pem", "--key", "none.pem"], "none.pem"),
        (vec!["studies", "--storage", "http://127.0.0.1:1/path"], "a host and a port only"),
    ] {
        let output = wimble(folder.path(), &arguments).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(words), "{arguments:?}: {said}");
    }
}
