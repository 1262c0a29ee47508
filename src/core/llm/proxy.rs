//! A proxy on this machine that passes requests on to a provider, and records each question to a model with its answer.
//!
//! It listens on the loopback address only. What a client sends below `/anthropic` or `/openai` goes to the base URL of that provider, with
//! the client's own headers and key; status, headers and body come back as they arrive. Every `POST` to `/messages`, `/chat/completions` or
//! `/responses` becomes a line of the record: times, the body of the request, and the body of the answer, joined if it was streamed.
//! Headers and queries are never recorded, so no key is. Only the answer's compression is asked to be none.

mod exchange;
mod line;
mod request;
mod streamed;
mod target;

use std::io::{self, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use exchange::Exchange;
use request::{ReadError, Request};
use target::Target;
pub use target::{TARGETS, TargetError, TargetKind};

/// How long [`Proxy::finish`] waits for answers that are still coming. A client that has ended reads none.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// A proxy that listens.
pub struct Proxy {
    port: u16,
    shared: Arc<Shared>,
}

/// Where to listen, and what to pass on to.
pub struct ProxySettings<'a> {
    /// 0 lets the system choose.
    pub port: u16,
    /// Names of providers with their base URLs.
    pub targets: Vec<(&'a str, &'a str)>,
    /// Gets the lines of the record.
    pub record: Box<dyn Write + Send>,
}

/// Why a proxy cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum ProxyError {
    #[error(transparent)]
    Target(#[from] TargetError),
    #[error("port {0} of this machine cannot be listened on: {1}")]
    Port(u16, io::Error),
}

/// What a proxy did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Passed {
    /// Questions to a model that were recorded.
    pub recorded: usize,
    /// Other requests, such as for a list of models.
    pub others: usize,
    /// Why a line could not be written; nothing is recorded after it.
    pub unwritten: Option<String>,
    /// Requests whose body is no JSON that can be recorded, or that no provider took.
    pub unread: usize,
}

/// What the threads of the connections share.
struct Shared {
    targets: Vec<Target>,
    state: Mutex<State>,
    /// An exchange ended.
    ended: Condvar,
}

struct State {
    record: Box<dyn Write + Send>,
    passed: Passed,
    /// Exchanges in progress.
    running: usize,
}

impl Proxy {
    /// Listens, and serves each connection in a thread of its own.
    pub fn start(settings: ProxySettings) -> Result<Self, ProxyError> {
        let targets = settings.targets.iter().map(|(name, url)| Target::new(name, url)).collect::<Result<_, _>>()?;
        let unheard = |error| ProxyError::Port(settings.port, error);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, settings.port)).map_err(unheard)?;
        let port = listener.local_addr().map_err(unheard)?.port();
        let state = State { record: settings.record, passed: Passed::default(), running: 0 };
        let shared = Arc::new(Shared { targets, state: Mutex::new(state), ended: Condvar::new() });
        let serving = Arc::clone(&shared);
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let shared = Arc::clone(&serving);
                thread::spawn(move || shared.serve(&connection));
            }
        });
        Ok(Self { port, shared })
    }

    /// Returns the base URL that a client of this provider uses.
    pub fn base_url(&self, provider: &str) -> String {
        format!("http://{}:{}/{provider}", Ipv4Addr::LOCALHOST, self.port)
    }

    /// Waits a little for answers that are still coming, and returns what was done so far.
    pub fn finish(&self) -> Passed {
        let state = self.shared.state();
        let waited = self.shared.ended.wait_timeout_while(state, LAST_ANSWERS, |state| state.running > 0);
        waited.unwrap_or_else(PoisonError::into_inner).0.passed.clone()
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers the requests of a connection until one side closes it.
    fn serve(&self, connection: &TcpStream) {
        // Without it, small parts of a streamed answer would wait for each other.
        let _ = connection.set_nodelay(true);
        let mut from = BufReader::new(connection);
        let mut to = connection;
        loop {
            let stays = match Request::read(&mut from, &mut to) {
                Ok(request) => self.exchange(request, &mut to),
                Err(ReadError::Refused(status, why)) => {
                    let _ = exchange::refuse(&mut to, status, why);
                    false
                }
                Err(ReadError::Closed) => false,
            };
            if !stays {
                return;
            }
        }
    }

    /// Passes on a request and its answer, and returns whether the connection can serve another one.
    fn exchange(&self, request: Request, to: &mut impl Write) -> bool {
        let found = self.targets.iter().find_map(|target| Some((target, target.path(&request.target)?)));
        let Some((target, path)) = found else {
            self.state().passed.unread += 1;
            let names: Vec<_> = self.targets.iter().map(|target| format!("/{}", target.name)).collect();
            return exchange::refuse(to, 404, &format!("paths begin with {} here", names.join(" or "))).is_ok() && request.stays;
        };
        self.state().running += 1;
        let exchange = Exchange::new(target, &path, &request);
        let (stays, line) = exchange.run(to);
        let mut state = self.state();
        state.running -= 1;
        state.count(line);
        self.ended.notify_all();
        stays
    }
}

impl State {
    fn count(&mut self, line: line::Line) {
        match line {
            line::Line::Other => self.passed.others += 1,
            line::Line::Unread => self.passed.unread += 1,
            line::Line::Record(_) if self.passed.unwritten.is_some() => {}
            line::Line::Record(record) => match self.record.write_all(record.as_bytes()).and_then(|()| self.record.flush()) {
                Ok(()) => self.passed.recorded += 1,
                Err(error) => self.passed.unwritten = Some(error.to_string()),
            },
        }
    }
}

#[cfg(test)]
mod tests;
