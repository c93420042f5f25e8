//! The server as its clients see it: answers, tags, tokens, and who is turned away.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use wimble::prelude::*;
use wimble_server::{Level, Options, Server, Tokens};
use wimble_study::{Memory, Settings, Store, Study, SystemClock};

const HOSTILE: &str = "<script>alert(1)</script>/\"quoted\" & ünïcode";

fn space() -> SearchSpace {
    SearchSpace::new([Dimension::real("x", -2.0, 2.0), Dimension::categorical("kind", ["a", "b"])])
        .unwrap()
}

fn store_with(name: &str, trials: usize) -> Arc<dyn Store> {
    let store: Arc<dyn Store> = Arc::new(Memory::new(SystemClock));
    let settings = Settings::new(name, space(), "random".parse().unwrap()).budget(1_000);
    let study = Study::open_or_create(Arc::clone(&store), settings).unwrap();
    for i in 0..trials {
        let claim = study.ask("w", &format!("k{i}"), 1).unwrap().remove(0);
        study.tell(claim.token, &(i as f64).into(), "t").unwrap();
    }
    store
}

fn tokens() -> Tokens {
    let token = |word: &str| Some(format!("{word}-{}", "x".repeat(30)));
    Tokens { read: token("read"), work: token("work"), write: token("write") }
}

struct Client {
    base: String,
    agent: ureq::Agent,
}

impl Client {
    fn of(server: &Server) -> Self {
        let config = ureq::Agent::config_builder().http_status_as_error(false).max_redirects(0);
        Self { base: format!("http://{}", server.address()), agent: config.build().into() }
    }

    fn get_with(
        &self,
        path: &str,
        headers: &[(&str, &str)],
    ) -> (u16, ureq::http::HeaderMap, String) {
        let mut request = self.agent.get(format!("{}{path}", self.base));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut response = request.call().unwrap();
        let text = response.body_mut().read_to_string().unwrap();
        (response.status().as_u16(), response.headers().clone(), text)
    }

    fn get(&self, path: &str) -> (u16, Json) {
        let (status, _, text) = self.get_with(path, &[]);
        (status, serde_json::from_str(&text).unwrap_or(Json::String(text)))
    }

    fn post(&self, path: &str, token: Option<&str>, body: &Json) -> (u16, Json) {
        let mut request = self
            .agent
            .post(format!("{}{path}", self.base))
            .header("content-type", "application/json");
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let mut response = request.send(body.to_string()).unwrap();
        let text = response.body_mut().read_to_string().unwrap();
        (response.status().as_u16(), serde_json::from_str(&text).unwrap_or(Json::String(text)))
    }
}

/// What a server answers to bytes, read for two seconds at most.
fn raw(server: &Server, request: &str) -> String {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
    // A server that hangs up at once answers nothing.
    drop(stream.write_all(request.as_bytes()));
    let mut answer = Vec::new();
    let mut part = [0; 4096];
    while let Ok(count @ 1..) = stream.read(&mut part) {
        answer.extend_from_slice(&part[..count]);
        if answer.windows(4).any(|w| w == b"\r\n\r\n") {
            break;
        }
    }
    String::from_utf8_lossy(&answer).into_owned()
}

fn encoded(name: &str) -> String {
    name.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

#[test]
fn studies_are_read_whatever_their_names() {
    let store = store_with(HOSTILE, 30);
    let server = Server::start(store, Options::local(0)).unwrap();
    let client = Client::of(&server);
    let (status, all) = client.get("/api/studies");
    assert_eq!((status, all["studies"][0]["name"].as_str()), (200, Some(HOSTILE)));
    assert_eq!(all["studies"][0]["counts"]["valued"], 30);
    let study = format!("/api/studies/{}", encoded(HOSTILE));
    let (status, summary) = client.get(&format!("{study}/summary"));
    assert_eq!((status, &summary["best"]["trial"]), (200, &json!(0)), "{summary}");
    assert_eq!(summary["parameters"][0]["name"], "x");
    let (status, history) = client.get(&format!("{study}/history?by=trial&width=100"));
    assert_eq!(
        (status, history["points"]["trial"].as_array().unwrap().len()),
        (200, 30),
        "{history}"
    );
    let (status, page) = client.get(&format!(
        "{study}/trials?filter=value%20%3E%3D%2025&sort=value&descending=true&limit=2"
    ));
    assert_eq!(
        (status, &page["matching"], &page["trials"][0]["value"]),
        (200, &json!(5), &json!(29.0))
    );
    let (status, trial) = client.get(&format!("{study}/trial/7"));
    assert_eq!((status, &trial["value"]), (200, &json!(7.0)));
    for figure in [
        "front",
        "timeline",
        "parallel",
        "scatters",
        "slices",
        "batch",
        "landscape?x=x&y=kind",
        "landscape?x=x&y=kind&x_from=0.25&x_to=0.5",
        "changes?since=3",
        "importance",
        "advice",
    ] {
        let (status, body) = client.get(&format!("{study}/{figure}"));
        assert_eq!(status, 200, "{figure}: {body}");
    }
    let (status, _, csv) =
        client.get_with(&format!("{study}/trials.csv?filter=value%20%3C%203"), &[]);
    assert_eq!((status, csv.lines().count()), (200, 4), "{csv}");
    // Only the columns that are seen, in the order of the file.
    let columns = "%5B%22value%22,%22param.*%22,%22trial%22%5D";
    let (status, _, csv) = client.get_with(&format!("{study}/trials.csv?columns={columns}"), &[]);
    let head = csv.lines().next().unwrap();
    assert_eq!((status, head), (200, "trial,value,param.x,param.kind"), "{csv}");
    let (status, _, text) = client.get_with(&format!("{study}/trials.csv?columns=value"), &[]);
    assert!(status == 400 && text.contains("no list of names"), "{text}");
    for (path, expected, words) in [
        ("/api/studies/none/summary", 404, "there is no study `none`"),
        (&*format!("{study}/trial/99"), 404, "has no trial 99"),
        (&*format!("{study}/history?objective=3"), 400, "numbered from 0"),
        (&*format!("{study}/history?width=wide"), 400, "width"),
        (
            &*format!("{study}/landscape?x=x&y=kind&x_from=0.5&x_to=0.25"),
            400,
            "0 <= from < to <= 1",
        ),
        (&*format!("{study}/trials?filter=y%3D1"), 400, "there is no column `y`"),
        ("/nothing", 404, "there is nothing at this address"),
    ] {
        let (status, body) = client.get(path);
        assert_eq!(status, expected, "{path}: {body}");
        assert!(body["error"].as_str().unwrap().contains(words), "{path}: {body}");
    }
    let (status, _, metrics) = client.get_with("/metrics", &[]);
    assert_eq!(status, 200);
    assert!(
        metrics.contains("state=\"complete\"} 30") && metrics.contains("\\\"quoted\\\""),
        "{metrics}"
    );
}

#[test]
fn shares_are_parameters_of_their_own() {
    let store: Arc<dyn Store> = Arc::new(Memory::new(SystemClock));
    let dough = SearchSpace::new([
        Dimension::shares("dough", ["flour", "water", "salt"]),
        Dimension::real("heat", 0.0, 1.0),
    ]);
    let settings = Settings::new("bread", dough.unwrap(), "auto".parse().unwrap()).budget(100);
    let study = Study::open_or_create(Arc::clone(&store), settings).unwrap();
    for i in 0..30 {
        let claim = study.ask("w", &format!("k{i}"), 1).unwrap().remove(0);
        let water = claim.configuration.real("water").unwrap();
        study.tell(claim.token, &(water - 0.4).powi(2).into(), "t").unwrap();
    }
    let server = Server::start(store, Options::local(0)).unwrap();
    let client = Client::of(&server);
    let (_, summary) = client.get("/api/studies/bread/summary");
    let names: Vec<&str> = summary["parameters"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|parameter| parameter["name"].as_str())
        .collect();
    assert_eq!(names, ["flour", "water", "salt", "heat"]);
    let (_, scatters) = client.get("/api/studies/bread/scatters");
    let places = scatters["scatters"][1]["place"].as_array().unwrap();
    assert_eq!(places.len(), 30, "{scatters}");
    let (_, slices) = client.get("/api/studies/bread/slices");
    let water = &slices["slices"][1];
    assert_eq!(water["name"], "water", "{slices}");
    assert_eq!(water["forecast"].as_array().unwrap().len(), 33, "{slices}");
    let (_, wet) = client.get("/api/studies/bread/trials?filter=water%20%3E%200.5");
    assert!(wet["matching"].as_u64().unwrap() < 30, "{wet}");
}

#[test]
fn what_did_not_change_is_not_sent_again() {
    let store = store_with("s", 300);
    let server = Server::start(Arc::clone(&store), Options::local(0)).unwrap();
    let client = Client::of(&server);
    let (_, headers, text) =
        client.get_with("/api/studies/s/history", &[("accept-encoding", "gzip")]);
    assert!(headers.get("etag").is_some() && text.contains("best"));
    let tag = headers["etag"].to_str().unwrap().to_owned();
    assert_eq!(client.get_with("/api/studies/s/history", &[("if-none-match", &tag)]).0, 304);
    let study = Study::open(store, "s").unwrap();
    study.ask("v", "more", 1).unwrap();
    std::thread::sleep(Duration::from_millis(400));
    assert_eq!(client.get_with("/api/studies/s/history", &[("if-none-match", &tag)]).0, 200);
}

#[test]
fn strangers_are_turned_away() {
    let server = Server::start(store_with("s", 3), Options::local(0)).unwrap();
    let (client, port) = (Client::of(&server), server.address().port());
    let asked = |headers: &[(&str, &str)]| client.get_with("/api/studies", headers).0;
    assert_eq!(asked(&[]), 200);
    assert_eq!(asked(&[("host", &format!("localhost:{port}"))]), 200);
    // A name of a stranger that leads here, and other ports of this machine.
    assert_eq!(asked(&[("host", &format!("evil.example:{port}"))]), 403);
    assert_eq!(asked(&[("host", "localhost:1")]), 403);
    assert_eq!(asked(&[("origin", "http://evil.example")]), 403);
    assert_eq!(asked(&[("origin", "null")]), 403);
    assert_eq!(asked(&[("sec-fetch-site", "cross-site")]), 403);
    assert_eq!(asked(&[("origin", &client.base)]), 200);
    // Nobody may work or write where no token was given out.
    let addresses =
        ["ask", "tell", "report", "heartbeat", "release", "trials", "budget", "pause", "note"];
    for path in addresses {
        let body = json!({
            "worker": "w", "key": "k", "token": "0.1", "tokens": [], "params": {}, "budget": 5, "step": 1, "value": 1,
            "paused": true, "trial": 0, "text": "x",
        });
        let (status, said) = client.post(&format!("/api/studies/s/{path}"), Some("guess"), &body);
        assert_eq!(status, 403, "{path}: {said}");
    }
    let form = client
        .agent
        .post(format!("{}/api/studies/s/ask", client.base))
        .header("content-type", "text/plain");
    assert_eq!(form.send("{}").unwrap().status().as_u16(), 415);
    let (_, headers, _) = client.get_with("/", &[]);
    let policy = headers["content-security-policy"].to_str().unwrap();
    assert!(
        policy.contains("default-src 'none'")
            && policy.contains("script-src 'self'")
            && !policy.contains("unsafe")
    );
    assert_eq!(headers["x-content-type-options"], "nosniff");
}

#[test]
fn a_worker_reports_steps_and_hears_whether_to_go_on() {
    let options = Options { tokens: tokens(), ..Options::local(0) };
    let server = Server::start(store_with("s", 1), options).unwrap();
    let client = Client::of(&server);
    let (work, write) = (tokens().work.unwrap(), tokens().write.unwrap());
    let space = json!({ "dimensions": [{ "name": "x", "type": "real", "low": 0, "high": 1 }] });
    let goal = json!({
        "objectives": [{ "name": "value", "direction": "minimise" }],
        "fidelity": { "name": "epochs", "low": 1, "high": 9 },
    });
    let study = json!({ "name": "curves", "space": space, "goal": goal, "method": "random" });
    let (status, said) = client.post("/api/studies", Some(&write), &study);
    assert_eq!(status, 200, "{said}");
    let ask = json!({ "worker": "w", "key": "k" });
    let (_, asked) = client.post("/api/studies/curves/ask", Some(&work), &ask);
    let token = &asked["claims"][0]["token"];
    let report = |more: serde_json::Value| {
        let mut body = json!({ "token": token });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        client.post("/api/studies/curves/report", Some(&work), &body)
    };
    let (status, said) = report(json!({ "step": 1, "value": 0.5 }));
    assert_eq!((status, &said["verdict"]), (200, &json!("go-on")), "{said}");
    let measurement = json!({ "objectives": [{ "value": 0.25, "deviation": 0.5 }] });
    assert_eq!(report(json!({ "step": 3, "measurement": measurement })).0, 200);
    assert_eq!(report(json!({ "step": 3 })).0, 400);
    let (status, said) = report(json!({ "step": 10, "value": 0.5 }));
    assert!(status == 422 && said.to_string().contains("from 1 to 9"), "{status} {said}");
    let bearer = format!("Bearer {work}");
    let (_, _, text) =
        client.get_with("/api/studies/curves/trial/0", &[("authorization", &bearer)]);
    let trial: Json = serde_json::from_str(&text).unwrap();
    assert_eq!(trial["steps"][1], json!({ "step": 3.0, "value": 0.25, "deviation": 0.5 }));
    let outcome = json!({ "measured": { "objectives": [{ "value": 0.25 }], "fidelity": 3 } });
    let told = json!({ "token": token, "outcome": outcome });
    assert_eq!(client.post("/api/studies/curves/tell", Some(&work), &told).0, 200);
    let (status, said) = report(json!({ "step": 4, "value": 0.5 }));
    assert!(status == 409 && said.to_string().contains("is finished already"), "{status} {said}");
}

#[test]
fn a_token_opens_what_it_is_for_and_leaves_the_address() {
    let options = Options { tokens: tokens(), ..Options::local(0) };
    let server = Server::start(store_with("s", 3), options).unwrap();
    let client = Client::of(&server);
    let tokens = tokens();
    let [read, work, write] = [tokens.read.unwrap(), tokens.work.unwrap(), tokens.write.unwrap()];
    assert_eq!(client.get("/api/studies").0, 401);
    assert_eq!(client.get("/").0, 401);
    assert_eq!(
        client.get_with("/api/studies", &[("authorization", &format!("Bearer {read}"))]).0,
        200
    );
    let link = server.link(Level::Read).replace(&client.base, "");
    let (status, headers, _) = client.get_with(&format!("{link}&tab=1"), &[]);
    assert_eq!(
        (status, &headers["location"]),
        (303, &ureq::http::HeaderValue::from_static("/?tab=1"))
    );
    let cookie = headers["set-cookie"].to_str().unwrap();
    assert!(cookie.contains("HttpOnly; SameSite=Strict"), "{cookie}");
    let pair = cookie.split(';').next().unwrap();
    assert_eq!(client.get_with("/api/studies", &[("cookie", pair)]).0, 200);
    // No address leads to another host.
    let (_, headers, _) = client.get_with(&format!("//evil.example/?token={read}"), &[]);
    assert_eq!(headers["location"], "/evil.example/");

    let ask = json!({ "worker": "w", "key": "k" });
    assert_eq!(client.post("/api/studies/s/ask", Some(&read), &ask).0, 403);
    let (status, asked) = client.post("/api/studies/s/ask", Some(&work), &ask);
    assert_eq!(status, 200, "{asked}");
    let token = &asked["claims"][0]["token"];
    assert_eq!(client.post("/api/studies/s/ask", Some(&work), &ask).1["claims"], asked["claims"]);
    let beat = json!({ "tokens": [token, "99.1"] });
    let (_, refused) = client.post("/api/studies/s/heartbeat", Some(&work), &beat);
    assert_eq!(refused["refused"].as_array().unwrap().len(), 1, "{refused}");
    let both = json!({ "token": token, "value": 1.0, "infeasible": true });
    assert_eq!(client.post("/api/studies/s/tell", Some(&work), &both).0, 400);
    let told = json!({ "token": token, "value": -5.0, "attributes": { "note": HOSTILE } });
    for _ in 0..2 {
        assert_eq!(client.post("/api/studies/s/tell", Some(&work), &told).0, 200);
    }
    let other = json!({ "token": token, "value": 3.0 });
    assert_eq!(client.post("/api/studies/s/tell", Some(&work), &other).0, 409);

    let enqueue = json!({ "key": "mine", "params": { "x": 0.5, "kind": "a" } });
    assert_eq!(client.post("/api/studies/s/trials", Some(&work), &enqueue).0, 403);
    let (status, enqueued) = client.post("/api/studies/s/trials", Some(&write), &enqueue);
    assert_eq!(status, 200, "{enqueued}");
    let outside = json!({ "key": "wrong", "params": { "x": 9.0, "kind": "a" } });
    assert_eq!(client.post("/api/studies/s/trials", Some(&write), &outside).0, 422);
    let (_, next) =
        client.post("/api/studies/s/ask", Some(&work), &json!({ "worker": "v", "key": "next" }));
    assert_eq!(next["claims"][0]["trial"], enqueued["trial"], "{next}");
    let token = &next["claims"][0]["token"];
    assert_eq!(
        client.post("/api/studies/s/release", Some(&work), &json!({ "token": token })).0,
        200
    );
    assert_eq!(
        client.post("/api/studies/s/budget", Some(&write), &json!({ "budget": 2_000 })).0,
        200
    );
    let new = json!({
        "name": "new", "direction": "maximise", "budget": 5,
        "space": { "dimensions": [{ "name": "x", "type": "real", "low": 0, "high": 1 }] },
    });
    assert_eq!(client.post("/api/studies", Some(&work), &new).0, 403);
    assert_eq!(client.post("/api/studies", Some(&write), &new).0, 200);
    // There is no field for a command.
    let mut with_command = new;
    with_command["command"] = json!(["sh"]);
    assert_eq!(client.post("/api/studies", Some(&write), &with_command).0, 400);
}

#[test]
fn people_pause_and_note_and_workers_hear_of_it() {
    let options = Options { tokens: tokens(), ..Options::local(0) };
    let store = store_with("s", 3);
    let server = Server::start(Arc::clone(&store), options).unwrap();
    let (client, tokens) = (Client::of(&server), tokens());
    let [work, write] = [tokens.work.unwrap(), tokens.write.unwrap()];
    let pause = |paused: bool| json!({ "paused": paused });
    assert_eq!(client.post("/api/studies/s/pause", Some(&work), &pause(true)).0, 403);
    assert_eq!(client.post("/api/studies/s/pause", Some(&write), &pause(true)).0, 200);
    let ask = |key: &str| json!({ "worker": "w2", "key": key });
    let (status, asked) = client.post("/api/studies/s/ask", Some(&work), &ask("a"));
    assert_eq!((status, asked["paused"].as_bool()), (200, Some(true)), "{asked}");
    assert_eq!(asked["claims"], json!([]));
    let bearer = format!("Bearer {write}");
    let read = |path: &str| -> Json {
        let (status, _, text) = client.get_with(path, &[("authorization", &bearer)]);
        assert_eq!(status, 200, "{path}: {text}");
        serde_json::from_str(&text).unwrap()
    };
    assert_eq!(read("/api/studies/s/summary")["paused"], true);
    assert_eq!(client.post("/api/studies/s/pause", Some(&write), &pause(false)).0, 200);
    let (_, asked) = client.post("/api/studies/s/ask", Some(&work), &ask("b"));
    assert_eq!(asked["claims"].as_array().map(Vec::len), Some(1), "{asked}");

    let note = json!({ "trial": 1, "text": HOSTILE });
    assert_eq!(client.post("/api/studies/s/note", Some(&work), &note).0, 403);
    assert_eq!(client.post("/api/studies/s/note", Some(&write), &note).0, 200);
    assert_eq!(read("/api/studies/s/trial/1?model=false")["note"], HOSTILE);
    let nowhere = json!({ "trial": 99, "text": "x" });
    assert_eq!(client.post("/api/studies/s/note", Some(&write), &nowhere).0, 404);
    // The figures that are drawn from the store alone.
    for path in ["volume", "band", "curves", "certificate", "constraints"] {
        read(&format!("/api/studies/s/{path}"));
    }
    let certificate = &read("/api/studies/s/certificate")["certificate"];
    assert!(certificate["because"][0].as_str().is_some_and(|text| text.contains("`random`")));
}

#[test]
fn whoever_comes_too_often_or_with_too_many_connections_waits_and_workers_do_not() {
    let tokens = Tokens { read: None, ..tokens() };
    let work = format!("Bearer {}", tokens.work.clone().unwrap());
    let options = Options { tokens, ..Options::local(0) };
    let server = Server::start(store_with("s", 1), options).unwrap();
    let client = Client::of(&server);
    let start = Instant::now();
    let mut refused = 0;
    while refused == 0 && start.elapsed() < Duration::from_secs(20) {
        refused += usize::from(client.get("/api/access").0 == 429);
    }
    assert!(refused > 0, "nobody was asked to wait");
    let working =
        (0..50).all(|_| client.get_with("/api/access", &[("authorization", &work)]).0 == 200);
    assert!(working, "a worker was asked to wait");

    // One client has a limited number of places; whoever gives them back finds the server as it was.
    let open: Vec<TcpStream> =
        (0..700).filter_map(|_| TcpStream::connect(server.address()).ok()).collect();
    let request = format!(
        "GET /api/access HTTP/1.1\r\nhost: {}\r\nauthorization: {work}\r\n\r\n",
        server.address()
    );
    assert_eq!(raw(&server, &request), "", "more connections of one client than are allowed");
    drop(open);
    let start = Instant::now();
    while !raw(&server, &request).starts_with("HTTP/1.1 200") {
        assert!(start.elapsed() < Duration::from_secs(20), "places were not given back");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn other_machines_need_a_token() {
    let options = Options { address: ([0, 0, 0, 0], 0).into(), ..Options::local(0) };
    let error = Server::start(store_with("s", 1), options).err().unwrap().to_string();
    assert!(error.contains("needs a token"), "{error}");
}

#[test]
fn events_follow_the_study() {
    let store = store_with("s", 3);
    let server = Server::start(Arc::clone(&store), Options::local(0)).unwrap();
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let host = server.address();
    write!(stream, "GET /api/studies/s/events HTTP/1.1\r\nhost: {host}\r\n\r\n").unwrap();
    let mut seen = String::new();
    let mut until = |words: &str| {
        let start = Instant::now();
        let mut part = [0; 4096];
        while !seen.contains(words) {
            assert!(start.elapsed() < Duration::from_secs(5), "{words} is not in {seen}");
            let count = stream.read(&mut part).unwrap();
            seen.push_str(&String::from_utf8_lossy(&part[..count]));
        }
        start.elapsed()
    };
    until("\"complete\":3");
    let study = Study::open(store, "s").unwrap();
    let claim = study.ask("w", "later", 1).unwrap().remove(0);
    study.tell(claim.token, &(-7.0).into(), "t").unwrap();
    let took = until("\"value\":-7.0");
    assert!(took < Duration::from_secs(1), "{took:?}");
}

#[test]
fn heads_and_bodies_have_limits_and_slow_clients_hold_up_nobody() {
    let options = Options { tokens: tokens(), ..Options::local(0) };
    let server = Server::start(store_with("s", 3), options).unwrap();
    let host = server.address();
    // Half-open connections, and heads that are never finished.
    let open: Vec<TcpStream> = (0..100)
        .map(|i| {
            let mut stream = TcpStream::connect(host).unwrap();
            if i % 2 == 0 {
                stream.write_all(b"GET / HTTP/1.1\r\nx: ").unwrap();
            }
            stream
        })
        .collect();
    let large = format!("GET / HTTP/1.1\r\nhost: {host}\r\nx: {}\r\n\r\n", "y".repeat(200_000));
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
    drop(stream.write_all(large.as_bytes()));
    let mut answer = String::new();
    drop(stream.read_to_string(&mut answer));
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431"), "{answer}");
    let client = Client::of(&server);
    let write = tokens().write.unwrap();
    let body = json!({ "key": "k", "params": { "kind": "y".repeat(5 << 20) } });
    let config = client
        .agent
        .post(format!("{}/api/studies/s/trials", client.base))
        .header("content-type", "application/json");
    let sent = config.header("authorization", format!("Bearer {write}")).send(body.to_string());
    assert!(sent.map_or(true, |answer| answer.status().as_u16() == 413));
    let bad = raw(&server, "\u{1}\u{2} nonsense\r\n\r\n");
    assert!(bad.is_empty() || bad.starts_with("HTTP/1.1 400"), "{bad}");
    assert_eq!(
        client.get_with("/api/studies", &[("authorization", &format!("Bearer {write}"))]).0,
        200
    );
    drop(open);
}

#[test]
fn readers_of_figures_leave_room_for_workers() {
    let server = Server::start(store_with("wide", 400), Options::local(0)).unwrap();
    let begun = Instant::now();
    let (others, figures) = std::thread::scope(|scope| {
        // More than the server has threads, each with a figure that takes a while.
        let figure = || assert_eq!(Client::of(&server).get("/api/studies/wide/importance").0, 200);
        let readers: Vec<_> = (0..48).map(|_| scope.spawn(figure)).collect();
        std::thread::sleep(Duration::from_millis(100));
        let asked = Instant::now();
        assert_eq!(Client::of(&server).get("/api/studies").0, 200);
        let others = asked.elapsed();
        readers.into_iter().for_each(|reader| reader.join().unwrap());
        (others, begun.elapsed())
    });
    assert!(others * 5 < figures, "{others:?} beside figures that took {figures:?} in all");
}

#[test]
fn tokens_are_in_nothing_that_is_said_or_counted() {
    let options = Options { tokens: tokens(), ..Options::local(0) };
    let all = [tokens().read, tokens().work, tokens().write].map(Option::unwrap);
    let mut said = format!("{options:?}");
    let server = Server::start(store_with("s", 3), options).unwrap();
    let client = Client::of(&server);
    for token in &all {
        let bearer = format!("Bearer {token}");
        for path in ["/metrics", "/api/access", "/api/studies/none/summary", "/api/openapi.json"] {
            said += &client.get_with(path, &[("authorization", &bearer)]).2;
        }
        let wrong = format!("Bearer {token}x");
        said += &client.get_with("/api/studies", &[("authorization", &wrong)]).2;
        said += &client.get_with(&format!("/?token={token}x"), &[]).2;
        let nothing = json!({ "token": "0.1" });
        said += &client.post("/api/studies/s/tell", Some(token), &nothing).1.to_string();
    }
    assert!(said.contains("wimble_") && said.contains("a token is needed"), "{said}");
    for token in &all {
        assert!(!said.contains(token.as_str()), "{said}");
    }
}

#[test]
fn the_server_has_nothing_that_could_run_a_command() {
    fn files(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let all = entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] });
        all.collect()
    }
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let all = files(&source);
    assert!(all.len() > 15, "{all:?}");
    for path in all {
        let text = std::fs::read_to_string(&path).unwrap();
        for word in ["process::Command", "Command::new", "Runner", "Evaluator"] {
            assert!(!text.contains(word), "{word} in {}", path.display());
        }
    }
}

#[test]
fn a_stopped_server_gives_its_port_back() {
    let mut server = Server::start(store_with("s", 1), Options::local(0)).unwrap();
    let address = server.address();
    let stream = TcpStream::connect(address).unwrap();
    server.stop();
    drop(stream);
    assert!(TcpStream::connect_timeout(&address, Duration::from_millis(500)).is_err());
    Server::start(store_with("s", 1), Options { address, ..Options::local(0) }).unwrap();
}

#[test]
fn nonsense_of_any_kind_leaves_the_server_standing() {
    let options = Options { tokens: tokens(), ..Options::local(0) };
    let server = Server::start(store_with("s", 3), options).unwrap();
    let (host, token) = (server.address(), tokens().write.unwrap());
    let calls = [
        r#"{"call":"ask","study":"s","worker":"w","key":"k","wanted":1,"proposal":null}"#,
        r#"{"call":"tell_with","study":"s","token":{"trial":0,"fence":1},"outcome":{"value":1},"attributes":{},"key":"k"}"#,
        r#"{"call":"trials","study":"s","filter":{"stage":"running","limit":5}}"#,
    ];
    let mut bits = 7_u64;
    let mut next = |below: usize| {
        bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (bits >> 33) as usize % below
    };
    for round in 0..400 {
        let body = calls[round % calls.len()];
        let mut request = format!(
            "POST /api/store HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n\
             content-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .into_bytes();
        // Up to five bytes anywhere become something else.
        for _ in 0..1 + next(5) {
            let place = next(request.len());
            request[place] = next(256) as u8;
        }
        let mut stream = TcpStream::connect(host).unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        stream.write_all(&request).unwrap();
        drop(stream.shutdown(std::net::Shutdown::Write));
        let mut answer = Vec::new();
        drop(stream.read_to_end(&mut answer));
        let text = String::from_utf8_lossy(&answer);
        assert!(
            !text.starts_with("HTTP/1.1 500"),
            "{text} to {}",
            String::from_utf8_lossy(&request)
        );
    }
    let client = Client::of(&server);
    assert_eq!(
        client.get_with("/api/studies", &[("authorization", &format!("Bearer {token}"))]).0,
        200
    );
}
