//! A server that behaves as a test demands and records its requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// A request to the server.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Number of the request, from 0.
    pub number: usize,
    pub path: String,
    /// Headers: names in lower case, values unchanged.
    pub headers: Vec<(String, String)>,
    pub body: String,
}

/// What the server does with a request.
#[derive(Debug, Clone)]
pub enum Act {
    Answer {
        status: u16,
        headers: Vec<(&'static str, String)>,
        body: Vec<u8>,
    },
    /// Sends nothing until the client hangs up.
    Stall,
    /// Closes the connection before it has read everything: the client sees a reset.
    Reset,
    /// Announces more than it sends, then closes the connection.
    CutOff(Vec<u8>),
    /// Sends a good answer byte by byte.
    Slowly(Vec<u8>, Duration),
    /// Sends something that is not HTTP.
    Raw(Vec<u8>),
    /// Sends a good answer after this time.
    After(Duration, Vec<u8>),
}

pub struct Server {
    pub address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    requests: Mutex<Vec<Request>>,
    under_way: AtomicUsize,
    most_under_way: AtomicUsize,
    ends: AtomicBool,
}

/// An answer with this status.
pub fn status(status: u16, body: impl Into<Vec<u8>>) -> Act {
    Act::Answer { status, headers: Vec::new(), body: body.into() }
}

impl Act {
    pub fn with(self, name: &'static str, value: impl Into<String>) -> Self {
        match self {
            Act::Answer { status, mut headers, body } => {
                headers.push((name, value.into()));
                Act::Answer { status, headers, body }
            }
            other => other,
        }
    }
}

impl Server {
    pub fn start(script: impl Fn(&Request) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let shared = Arc::new(Shared::default());
        let (of_thread, script) = (Arc::clone(&shared), Arc::new(script));
        thread::spawn(move || {
            for stream in listener.incoming() {
                if of_thread.ends.load(Ordering::SeqCst) {
                    return;
                }
                let (Ok(stream), shared, script) = (stream, Arc::clone(&of_thread), Arc::clone(&script)) else { continue };
                // The server ignores a client that closes the connection.
                thread::spawn(move || serve(stream, &shared, &*script));
            }
        });
        Self { address, shared }
    }

    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub fn requests(&self) -> Vec<Request> {
        self.shared.requests.lock().expect("no test fails with it").clone()
    }

    /// Largest number of requests at one time.
    pub fn most_under_way(&self) -> usize {
        self.shared.most_under_way.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.ends.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
    }
}

/// An address on which no server listens.
pub fn nowhere() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port")
}

fn serve(stream: TcpStream, shared: &Shared, script: &dyn Fn(&Request) -> Act) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut request = head(&mut reader)?;
    let length = request.headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, value)| value.parse().ok());
    // Reads all but the last byte: unread bytes reset the connection when it is closed.
    let mut body = vec![0; length.unwrap_or(0_usize).saturating_sub(1)];
    reader.read_exact(&mut body)?;
    request.body = String::from_utf8_lossy(&body).into_owned() + "}";
    {
        let mut requests = shared.requests.lock().expect("no test fails with it");
        request.number = requests.len();
        requests.push(request.clone());
    }
    let under_way = shared.under_way.fetch_add(1, Ordering::SeqCst) + 1;
    shared.most_under_way.fetch_max(under_way, Ordering::SeqCst);
    let to_do = script(&request);
    if !matches!(to_do, Act::Reset) {
        reader.read_exact(&mut [0])?;
    }
    act(stream, to_do, || {
        shared.under_way.fetch_sub(1, Ordering::SeqCst);
    })
}

/// Performs an act. Calls `before_the_end` before its last step, so that no client is faster.
fn act(mut stream: TcpStream, act: Act, before_the_end: impl FnOnce()) -> std::io::Result<()> {
    let head =
        |status: u16, length: usize| format!("HTTP/1.1 {status} Status\r\ncontent-length: {length}\r\nconnection: close\r\n");
    match act {
        Act::Answer { status, headers, body } => {
            let mut answer = head(status, body.len()).into_bytes();
            for (name, value) in headers {
                answer.extend(format!("{name}: {value}\r\n").bytes());
            }
            answer.extend(b"\r\n".iter().chain(&body));
            before_the_end();
            stream.write_all(&answer)
        }
        Act::Stall => {
            stream.read_to_end(&mut Vec::new())?;
            before_the_end();
            Ok(())
        }
        Act::Reset => {
            before_the_end();
            Ok(())
        }
        Act::CutOff(body) => {
            before_the_end();
            stream.write_all(&[head(200, body.len() + 100).as_bytes(), b"\r\n", &body].concat())
        }
        Act::Slowly(body, pause) => {
            stream.write_all(&[head(200, body.len()).as_bytes(), b"\r\n"].concat())?;
            for byte in body {
                stream.write_all(&[byte])?;
                thread::sleep(pause);
            }
            before_the_end();
            Ok(())
        }
        Act::Raw(bytes) => {
            before_the_end();
            stream.write_all(&bytes)
        }
        Act::After(so_long, body) => {
            thread::sleep(so_long);
            before_the_end();
            stream.write_all(&[head(200, body.len()).as_bytes(), b"\r\n", &body].concat())
        }
    }
}

fn head(reader: &mut impl BufRead) -> std::io::Result<Request> {
    let mut request = Request::default();
    let mut line = String::new();
    reader.read_line(&mut line)?;
    request.path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        match line.trim_end().split_once(": ") {
            Some((name, value)) => request.headers.push((name.to_ascii_lowercase(), value.to_owned())),
            None => return Ok(request),
        }
    }
}
