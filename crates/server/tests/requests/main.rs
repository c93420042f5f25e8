//! Requests of any kind: seeds of every address, and what comes of them when bytes are changed, cut, doubled and mixed.
//!
//! `WIMBLE_TEST_REQUESTS=1000000` sends that many; the fuzz target `request` has the same body.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod body;

use std::collections::BTreeMap;

use body::{TOKEN, check, inside};
use wimble_study::Outcome;

const READS: &[&str] = &[
    "/",
    "/compare",
    "/study/s",
    "/study/s/trial/3",
    "/assets/main.js",
    "/metrics",
    "/api/openapi.json",
    "/api/access",
    "/api/studies",
    "/api/studies/s/summary",
    "/api/studies/s/history?by=time&from=1&to=9&width=50&height=20&log=true&whole=true&objective=0",
    "/api/studies/s/trials?filter=value%20%3C%203%20and%20kind%20%3D%20a&sort=value&descending=true&offset=1&limit=5",
    "/api/studies/s/trials.csv?filter=state%20%3D%20complete&columns=%5B%22value%22,%22param.*%22%5D",
    "/api/studies/s/changes?since=3&limit=5",
    "/api/studies/s/trial/3",
    "/api/studies/s/front",
    "/api/studies/s/constraints",
    "/api/studies/s/volume",
    "/api/studies/s/band?by=trial",
    "/api/studies/c/curves",
    "/api/studies/s/certificate",
    "/api/studies/s/timeline?from=0&to=1e15",
    "/api/studies/s/parallel",
    "/api/studies/s/scatters",
    "/api/studies/s/slices",
    "/api/studies/s/batch",
    "/api/studies/s/landscape?x=x&y=kind",
];

const CHANGES: &[(&str, &str)] = &[
    (
        "/api/studies",
        r#"{"name":"n","space":{"dimensions":[{"name":"x","type":"real","low":0,"high":1}]},"budget":3,"method":"random"}"#,
    ),
    ("/api/studies/s/trials", r#"{"key":"q1","params":{"x":0.5,"kind":"a"}}"#),
    ("/api/studies/s/ask", r#"{"worker":"w1","key":"a1","count":2}"#),
    ("/api/studies/s/tell", r#"{"token":"20.21","value":0.25,"attributes":{"a":1}}"#),
    ("/api/studies/c/report", r#"{"token":"20.21","step":3,"value":0.5}"#),
    ("/api/studies/s/heartbeat", r#"{"tokens":["20.21","1.2"]}"#),
    ("/api/studies/s/release", r#"{"token":"20.21"}"#),
    ("/api/studies/s/budget", r#"{"budget":900}"#),
    ("/api/studies/s/pause", r#"{"paused":false}"#),
    ("/api/studies/s/note", r#"{"trial":3,"text":"a note"}"#),
    (
        "/api/store",
        r#"{"call":"ask","study":"s","worker":"w","key":"k","wanted":1,"proposal":null}"#,
    ),
    (
        "/api/store",
        r#"{"call":"tell_with","study":"s","token":{"trial":0,"fence":1},"outcome":{"value":1},"attributes":{},"key":"k"}"#,
    ),
    ("/api/store", r#"{"call":"trials","study":"s","filter":{"stage":"running","limit":5}}"#),
    ("/api/store", r#"{"call":"changes_since","study":"s","sequence":0,"limit":10}"#),
    ("/api/store", r#"{"call":"notes","study":"s"}"#),
];

/// Words that parsers have opinions about.
const WORDS: &[&str] = &[
    "\r\n",
    "\r\n\r\n",
    "\0",
    "%00",
    "%",
    "%2F",
    "..",
    "//",
    "?",
    "&",
    "=",
    "1e308",
    "-1",
    "NaN",
    "18446744073709551616",
    "null",
    "{",
    "}",
    "[",
    "\"",
    "\\u0000",
    "é",
    "Transfer-Encoding: chunked\r\n",
    "Content-Length: 0\r\n",
    "Host: evil\r\n",
    "token=x",
    "not (",
    "~",
    "`",
    "GET ",
    "HTTP/2.0",
];

fn seeds() -> Vec<Vec<u8>> {
    let head = |method: &str, path: &str| {
        format!(
            "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:8765\r\nauthorization: Bearer {TOKEN}\r\n"
        )
    };
    let reads = READS.iter().map(|path| format!("{}\r\n", head("GET", path)));
    let changes = CHANGES.iter().map(|(path, body)| {
        let length = body.len();
        format!(
            "{}content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}",
            head("POST", path)
        )
    });
    reads.chain(changes).map(String::into_bytes).collect()
}

/// So many requests go to one server. Some create a study: the list of all studies, which is asked for as often, would become the whole
/// work.
const A_SERVER: usize = 20_000;

struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }
}

/// A seed with a few changes.
fn mutated(seeds: &[Vec<u8>], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = seeds[dice.below(seeds.len())].clone();
    for _ in 0..dice.below(6) {
        let at = dice.below(bytes.len() + 1);
        match dice.below(6) {
            0 if at < bytes.len() => bytes[at] = dice.below(256) as u8,
            1 => bytes.truncate(at),
            2 => {
                let word = WORDS[dice.below(WORDS.len())].as_bytes();
                bytes.splice(at..at, word.iter().copied());
            }
            3 => {
                let end = (at + dice.below(12)).min(bytes.len());
                bytes.drain(at..end);
            }
            4 => {
                let other = &seeds[dice.below(seeds.len())];
                let from = dice.below(other.len());
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from..]);
            }
            _ => {
                let end = (at + dice.below(40)).min(bytes.len());
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
        }
    }
    // The length that the head announces, more often than not: otherwise few bodies are read at all.
    if dice.below(3) > 0 { with_its_length(&bytes) } else { bytes }
}

fn with_its_length(bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return bytes.to_vec() };
    let Some((before, rest)) = head.split_once("content-length: ") else { return bytes.to_vec() };
    let after = rest.split_once("\r\n").map_or("", |(_, after)| after);
    let line = if after.is_empty() { String::new() } else { format!("\r\n{after}") };
    format!("{before}content-length: {}{line}\r\n\r\n{body}", body.len()).into_bytes()
}

/// The memory of this process, in MB, where the system tells it.
fn memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS"))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? / 1024.0)
}

#[test]
fn every_seed_is_answered_as_it_should_be() {
    let (inside, _) = inside();
    for seed in seeds() {
        let status = check(&inside, &seed);
        let text = String::from_utf8_lossy(&seed).into_owned();
        // What was told before, or never given, is refused; all else is done.
        assert!(matches!(status, 200 | 409 | 422), "{status} to {text}");
    }
}

#[test]
fn no_request_breaks_the_server() {
    let count = std::env::var("WIMBLE_TEST_REQUESTS").ok().and_then(|text| text.parse().ok());
    let count: usize = count.unwrap_or(20_000);
    let (seeds, mut dice) = (seeds(), Dice(11));
    let mut statuses: BTreeMap<u16, usize> = BTreeMap::new();
    let mut early = None;
    for begun in (0..count).step_by(A_SERVER) {
        let (inside, store) = inside();
        for sent in begun..count.min(begun + A_SERVER) {
            *statuses.entry(check(&inside, &mutated(&seeds, &mut dice))).or_default() += 1;
            if sent == count / 10 {
                early = memory();
            }
        }
        // What was finished stays what it was, and the server answers as before.
        for trial in 0..20_u64 {
            let told = store.trial("s", trial).unwrap();
            assert_eq!(told.outcome().and_then(Outcome::value), Some(trial as f64));
        }
        assert_eq!(check(&inside, &seeds[8]), 200);
    }
    println!(
        "{count} requests: {statuses:?}; memory {early:?} MB after a tenth, {:?} MB at the end",
        memory()
    );
    // They reached what they were for.
    assert!(
        [200, 400, 404].iter().all(|status| statuses.get(status).is_some_and(|&n| n > count / 100)),
        "{statuses:?}"
    );
    if let (Some(early), Some(late)) = (early, memory()) {
        assert!(late < early + 150.0, "{early} MB became {late} MB");
    }
}
