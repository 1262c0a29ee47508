//! One request and its answer.

use std::io::{self, Read, Write};
use std::time::Instant;

use jiff::Timestamp;
use serde_json::json;
use ureq::http::{self, HeaderMap, StatusCode};

use super::line::{Answer, Body, Facts, Line};
use super::request::Request;
use super::target::Target;

/// How much of an answer is read at once. A stream's events are smaller, and are passed on as they arrive.
const PART_BYTES: usize = 64 << 10;

/// More bytes of an answer are passed on and not recorded; no model writes as many.
const MAX_RECORDED_BYTES: usize = 256 << 20;

/// Headers that are about one connection (RFC 9110, 7.6.1), and those that the next connection has its own of.
const OF_CONNECTION: [&str; 12] = [
    "connection",
    "keep-alive",
    "proxy-connection",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "host",
    "content-length",
    "expect",
];

pub(super) struct Exchange<'a> {
    target: &'a Target,
    /// Path below the base URL, with its query.
    path: &'a str,
    request: &'a Request,
    began: (Timestamp, Instant),
}

/// What came of an answer.
#[derive(Default)]
struct Received {
    status: u16,
    encoding: String,
    is_stream: bool,
    body: Vec<u8>,
    first_byte: Option<f64>,
    cut: Option<String>,
    /// The client has all of it, and can tell.
    is_whole: bool,
}

impl<'a> Exchange<'a> {
    pub fn new(target: &'a Target, path: &'a str, request: &'a Request) -> Self {
        Self { target, path, request, began: (Timestamp::now(), Instant::now()) }
    }

    /// Asks the provider and passes on its answer. Returns whether the connection can serve another request, and what is recorded.
    pub fn run(&self, to: &mut impl Write) -> (bool, Line) {
        let mut received = Received::default();
        let outcome = match self.ask() {
            Ok(answer) => {
                self.pass_on(answer, to, &mut received);
                Ok(())
            }
            Err(error) => {
                let what = format!("{} gave no answer: {error}", self.target.shown());
                received.is_whole = refuse(to, 502, &what).is_ok();
                Err(what)
            }
        };
        let Received { status, encoding, is_stream, body, first_byte, cut, is_whole } = received;
        let facts = Facts {
            provider: self.target.name,
            path: self.path,
            method: &self.request.method,
            request: Body { bytes: &self.request.body, encoding: self.request.header("content-encoding").unwrap_or_default() },
            began: self.began.0,
            first_byte,
            seconds: self.began.1.elapsed().as_secs_f64(),
            outcome: outcome.map(|()| Answer { status, body: Body { bytes: &body, encoding: &encoding }, is_stream, cut }),
        };
        (self.request.stays && is_whole, facts.line())
    }

    fn ask(&self) -> Result<http::Response<ureq::Body>, ureq::Error> {
        let mut request = http::Request::builder().method(self.request.method.as_str()).uri(self.target.url(self.path));
        for (name, value) in &self.request.headers {
            if !OF_CONNECTION.contains(&name.as_str()) && name != "accept-encoding" {
                request = request.header(name, value.as_slice());
            }
        }
        // A compressed answer would come in pieces that cannot be read one by one.
        request = request.header("accept-encoding", "identity");
        match self.request.body.as_slice() {
            [] => self.target.agent.run(request.body(())?),
            body => self.target.agent.run(request.body(body)?),
        }
    }

    fn pass_on(&self, answer: http::Response<ureq::Body>, to: &mut impl Write, received: &mut Received) {
        let (parts, body) = answer.into_parts();
        let header = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
        received.status = parts.status.as_u16();
        received.encoding = header("content-encoding");
        received.is_stream = header("content-type").starts_with("text/event-stream");
        let has_body = self.request.method != "HEAD" && !matches!(received.status, 100..200 | 204 | 304);
        let length = header("content-length");
        let framing = match (length.is_empty(), has_body, self.request.reads_chunks) {
            (false, ..) => Framing::Length(length),
            (true, false, _) => Framing::None,
            (true, true, true) => Framing::Chunks,
            (true, true, false) => Framing::End,
        };
        let head = head(parts.status, &parts.headers, &framing);
        if let Err(error) = to.write_all(&head).and_then(|()| to.flush()) {
            received.cut = Some(client_left(&error));
            return;
        }
        let is_chunked = matches!(framing, Framing::Chunks);
        let copied = if has_body { self.copy(body, is_chunked, to, received) } else { Ok(()) };
        received.is_whole = copied.is_ok() && !matches!(framing, Framing::End);
        received.cut = copied.err();
    }

    /// Copies a body as it arrives. The error says which side ended it.
    fn copy(&self, body: ureq::Body, is_chunked: bool, to: &mut impl Write, received: &mut Received) -> Result<(), String> {
        let mut from = body.into_with_config().limit(u64::MAX).reader();
        let (mut part, mut framed) = (vec![0; PART_BYTES], Vec::new());
        loop {
            let length = match from.read(&mut part) {
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(format!("the provider ended the answer early: {error}")),
            };
            received.first_byte.get_or_insert_with(|| self.began.1.elapsed().as_secs_f64());
            let bytes = &part[..length];
            if received.body.len() + length <= MAX_RECORDED_BYTES {
                received.body.extend_from_slice(bytes);
            }
            framed.clear();
            if is_chunked {
                framed.extend(format!("{length:x}\r\n").bytes());
                framed.extend_from_slice(bytes);
                framed.extend(b"\r\n");
            }
            let sent = to.write_all(if is_chunked { &framed } else { bytes }).and_then(|()| to.flush());
            sent.map_err(|error| client_left(&error))?;
            if length == 0 {
                return Ok(());
            }
        }
    }
}

fn client_left(error: &io::Error) -> String {
    format!("the client ended the connection before the answer: {error}")
}

/// How the client knows where the body ends.
enum Framing {
    Length(String),
    Chunks,
    /// The connection ends with it.
    End,
    /// There is no body.
    None,
}

fn head(status: StatusCode, headers: &HeaderMap, framing: &Framing) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {} {}\r\n", status.as_str(), status.canonical_reason().unwrap_or("-")).into_bytes();
    let mut add = |name: &str, value: &[u8]| {
        head.extend(name.bytes().chain(*b": "));
        head.extend(value);
        head.extend(b"\r\n");
    };
    for (name, value) in headers {
        if !OF_CONNECTION.contains(&name.as_str()) {
            add(name.as_str(), value.as_bytes());
        }
    }
    match framing {
        Framing::Length(length) => add("content-length", length.as_bytes()),
        Framing::Chunks => add("transfer-encoding", b"chunked"),
        Framing::End => add("connection", b"close"),
        Framing::None => {}
    }
    head.extend(b"\r\n");
    head
}

/// Answers a request that is not passed on.
pub(super) fn refuse(to: &mut impl Write, status: u16, why: &str) -> io::Result<()> {
    let body = json!({"type": "error", "error": {"type": "recompact_record", "message": format!("recompact record: {why}")}})
        .to_string();
    let reason = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason()).unwrap_or("-");
    let length = body.len();
    write!(to, "HTTP/1.1 {status} {reason}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}")?;
    to.flush()
}
