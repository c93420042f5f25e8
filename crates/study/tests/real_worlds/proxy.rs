//! A network between one worker and the server, in the process of the test: it delays, freezes and cuts connections at
//! chosen messages.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

use super::ledger::{Ledger, SAFE};

/// What happens to the message after some more messages of the worker.
#[derive(Debug, Clone, Copy)]
pub enum Fault {
    /// It does not arrive, and the connection is cut.
    CutBefore,
    /// It arrives, its answer does not, and the connection is cut.
    CutAfter,
    /// Nothing passes in either direction after the end of its statement, for so long.
    Freeze(Duration),
    /// The same before the next statement of a worker whose turn it is to propose: it is frozen in its turn.
    FreezeInTurn(Duration),
    /// That statement waits until [`Proxy::let_go`].
    HoldInTurn,
}

/// The number of the lock that orders proposals, as it stands in the statements that take it.
const TURN: &str = "1463897412";
/// What a worker says next that did not get its turn.
const NOT_MINE: [&str; 3] = ["ROLLBACK", "lock_timeout", "_shared"];
/// A worker that is held is let go after this time in any case.
const LONGEST_HOLD: Duration = Duration::from_millis(1_500);

pub struct Proxy {
    pub port: u16,
    line: Arc<Line>,
}

/// What all connections of a worker have in common.
struct Line {
    socket: PathBuf,
    ledger: Arc<Ledger>,
    worker: usize,
    frozen_until: Mutex<Instant>,
    /// How much later each message arrives, and until when that is so.
    delay: Mutex<(Duration, Instant)>,
    fault: Mutex<Option<(u32, Fault)>>,
    held: AtomicBool,
    answered: Mutex<Instant>,
    over: AtomicBool,
}

impl Proxy {
    pub fn new(socket: PathBuf, ledger: Arc<Ledger>, worker: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let now = Instant::now();
        let line = Arc::new(Line {
            socket,
            ledger,
            worker,
            frozen_until: Mutex::new(now),
            delay: Mutex::new((Duration::ZERO, now)),
            fault: Mutex::new(None),
            held: AtomicBool::new(false),
            answered: Mutex::new(now),
            over: AtomicBool::new(false),
        });
        let accepting = Arc::clone(&line);
        spawn(move || {
            for near in listener.incoming().map_while(Result::ok) {
                if accepting.over.load(Ordering::SeqCst) {
                    return;
                }
                let line = Arc::clone(&accepting);
                spawn(move || line.carry(near));
            }
        });
        Self { port, line }
    }

    pub fn strike(&self, messages: u32, fault: Fault) {
        *self.line.fault.lock().unwrap() = Some((messages, fault));
    }

    /// Whether the last fault is still to come.
    pub fn awaits_its_fault(&self) -> bool {
        self.line.fault.lock().unwrap().is_some()
    }

    /// Whether the worker is held in its turn.
    pub fn is_held(&self) -> bool {
        self.line.held.load(Ordering::SeqCst)
    }

    pub fn let_go(&self) {
        self.line.held.store(false, Ordering::SeqCst);
    }

    pub fn delay(&self, by: Duration, time: Duration) {
        let until = Instant::now() + time;
        *self.line.delay.lock().unwrap() = (by, until);
        self.line.ledger.block(self.line.worker, until);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.line.over.store(true, Ordering::SeqCst);
        // Wakes the listener.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

impl Line {
    fn carry(self: Arc<Self>, near: TcpStream) {
        self.wait();
        let Ok(far) = UnixStream::connect(&self.socket) else { return };
        // Small messages leave at once, as the client's own do.
        near.set_nodelay(true).unwrap();
        let (from, to) = (near.try_clone().unwrap(), far.try_clone().unwrap());
        let swallow = Arc::new(AtomicBool::new(false));
        let (line, deaf) = (Arc::clone(&self), Arc::clone(&swallow));
        let back = spawn(move || line.answers(to, from, &deaf));
        let (mut near, mut far) = (near, far);
        // However it ended, both ends learn of it.
        let _ = self.messages(&mut near, &mut far, &swallow);
        let _ = near.shutdown(Shutdown::Both);
        // Nor does the server learn of anything while nothing passes: to it, the worker is frozen.
        self.wait();
        let _ = far.shutdown(Shutdown::Both);
        let _ = back.join();
    }

    /// From the worker to the server, message by message.
    fn messages(
        &self,
        near: &mut TcpStream,
        far: &mut UnixStream,
        swallow: &AtomicBool,
    ) -> io::Result<()> {
        let mut greeting = true;
        let mut turns = Turns::default();
        loop {
            let message = read_message(near, greeting)?;
            greeting = false;
            let is_in_turn = turns.hear(&message);
            // A client writes the messages of a statement at once: it is not frozen in the middle of them.
            let ends_a_statement = message[0] == b'S';
            let struck = {
                let mut fault = self.fault.lock().unwrap();
                match &mut *fault {
                    Some((left, _)) if *left > 0 => {
                        *left -= 1;
                        None
                    }
                    Some((_, Fault::Freeze(_))) if !ends_a_statement => None,
                    Some((_, Fault::FreezeInTurn(_) | Fault::HoldInTurn)) if !is_in_turn => None,
                    fault => fault.take().map(|(_, fault)| fault),
                }
            };
            if struck.is_some() {
                self.ledger.hit(self.worker);
            }
            self.wait();
            match struck {
                Some(Fault::CutBefore) => return Ok(()),
                Some(Fault::CutAfter) => {
                    swallow.store(true, Ordering::SeqCst);
                    far.write_all(&message)?;
                    sleep(Duration::from_millis(30));
                    return Ok(());
                }
                Some(Fault::Freeze(time)) => {
                    let until = Instant::now() + time;
                    self.ledger.block(self.worker, until);
                    far.write_all(&message)?;
                    *self.frozen_until.lock().unwrap() = until;
                }
                Some(Fault::FreezeInTurn(time)) => {
                    let until = Instant::now() + time;
                    self.ledger.block(self.worker, until);
                    *self.frozen_until.lock().unwrap() = until;
                    self.wait();
                    far.write_all(&message)?;
                }
                Some(Fault::HoldInTurn) => {
                    let until = Instant::now() + LONGEST_HOLD;
                    self.held.store(true, Ordering::SeqCst);
                    while self.held.load(Ordering::SeqCst) && Instant::now() < until {
                        sleep(Duration::from_millis(1));
                    }
                    self.held.store(false, Ordering::SeqCst);
                    far.write_all(&message)?;
                }
                None => far.write_all(&message)?,
            }
        }
    }

    /// From the server to the worker.
    fn answers(&self, mut far: UnixStream, mut near: TcpStream, swallow: &AtomicBool) {
        let mut packet = [0; 8192];
        while let Ok(length @ 1..) = far.read(&mut packet) {
            self.wait();
            if swallow.load(Ordering::SeqCst) {
                continue;
            }
            if near.write_all(&packet[..length]).is_err() {
                break;
            }
            let before = std::mem::replace(&mut *self.answered.lock().unwrap(), Instant::now());
            // A slow server, or a busy machine: for a while nothing reached the worker.
            if before.elapsed() > SAFE {
                self.ledger.hit(self.worker);
            }
        }
        let _ = near.shutdown(Shutdown::Both);
        let _ = far.shutdown(Shutdown::Both);
    }

    /// While nothing passes.
    fn wait(&self) {
        let (by, until) = *self.delay.lock().unwrap();
        if Instant::now() < until {
            sleep(by);
        }
        while !self.over.load(Ordering::SeqCst)
            && Instant::now() < *self.frozen_until.lock().unwrap()
        {
            sleep(Duration::from_millis(5));
        }
    }
}

/// Finds out from the messages of a connection when it is the worker's turn to propose.
#[derive(Default)]
struct Turns {
    /// The texts of statements by their names.
    statements: HashMap<String, String>,
    /// Whether the last statement asked for the turn.
    asked: bool,
}

impl Turns {
    /// Whether this message begins the statement that follows in a turn.
    fn hear(&mut self, message: &[u8]) -> bool {
        let [first, second] = texts(message);
        let statement = match message[0] {
            b'P' => {
                self.statements.insert(first, second.clone());
                second
            }
            b'B' => self.statements.get(&second).cloned().unwrap_or_default(),
            b'Q' => first,
            _ => return false,
        };
        let asks = statement.contains(TURN) && statement.contains("try");
        let follows = self.asked && !asks;
        self.asked = asks && (self.asked || message[0] == b'B');
        follows && !NOT_MINE.iter().any(|words| statement.contains(words))
    }
}

/// The first two texts of a message: of a statement its name and itself, of a call its own name and that of its statement.
fn texts(message: &[u8]) -> [String; 2] {
    let mut parts = message.get(5..).unwrap_or_default().split(|byte| *byte == 0);
    std::array::from_fn(|_| String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned())
}

/// One message of the client: a letter, its length and its content. The first has no letter.
fn read_message(from: &mut TcpStream, greeting: bool) -> io::Result<Vec<u8>> {
    let mut message = vec![0; if greeting { 4 } else { 5 }];
    from.read_exact(&mut message)?;
    let length = &message[message.len() - 4..];
    let length = u32::from_be_bytes(length.try_into().unwrap()) as usize;
    let begun = message.len();
    message.resize(begun + length - 4, 0);
    from.read_exact(&mut message[begun..])?;
    Ok(message)
}
