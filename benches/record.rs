//! What the recording proxy adds to a request: `cargo bench --bench record` asks a provider on this machine directly and through the
//! proxy, in turns, and prints the time until the first event of a stream and until its end.

use std::io::{BufRead, BufReader, Read, Write, sink};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use recompact::llm::proxy::{Proxy, ProxySettings};

/// Requests of each kind.
const REQUESTS: usize = 2_000;
/// Bytes of a request's body: a conversation of some 50,000 tokens.
const BODY_BYTES: usize = 200_000;
/// Events of an answer.
const EVENTS: usize = 200;

fn main() {
    let provider = provider();
    let targets = vec![("openai", provider.as_str())];
    let proxy = Proxy::start(ProxySettings { port: 0, targets, record: Box::new(sink()) }).expect("a proxy");
    let mut clients = [("direct", provider.clone()), ("through the proxy", proxy.base_url("openai"))].map(|(name, url)| {
        let (address, path) = url.trim_start_matches("http://").split_once('/').expect("a path");
        let connection = TcpStream::connect(address).expect("a connection");
        connection.set_nodelay(true).expect("a socket");
        (name, path.to_owned(), connection, Vec::new())
    });
    let body = format!(r#"{{"model":"m","stream":true,"messages":[{{"role":"user","content":"{}"}}]}}"#, "x".repeat(BODY_BYTES));
    for _ in 0..REQUESTS {
        for (_, path, connection, times) in &mut clients {
            times.push(ask(connection, path, &body));
        }
    }
    for (name, _, _, mut times) in clients {
        let mut of = |part: fn(&(Duration, Duration)) -> Duration, share: usize| {
            times.sort_by_key(part);
            part(&times[times.len() * share / 100]).as_secs_f64() * 1_000.0
        };
        let [first_50, first_99] = [50, 99].map(|share| of(|(first, _)| *first, share));
        let [end_50, end_99] = [50, 99].map(|share| of(|(_, end)| *end, share));
        println!(
            "{name:18} first event: p50 {first_50:.3} ms, p99 {first_99:.3} ms; end: p50 {end_50:.3} ms, p99 {end_99:.3} ms"
        );
    }
}

/// Returns the times until the first event, and until the end.
fn ask(connection: &mut TcpStream, path: &str, body: &str) -> (Duration, Duration) {
    let began = Instant::now();
    let head = format!("POST /{path}/chat/completions HTTP/1.1\r\nhost: h\r\ncontent-length: {}\r\n\r\n", body.len());
    connection.write_all((head + body).as_bytes()).expect("a server");
    let (mut from, mut first, mut line) = (BufReader::new(connection), None, String::new());
    while !line.starts_with("0\r\n") {
        line.clear();
        from.read_line(&mut line).expect("a line");
        if line.starts_with("data") {
            first.get_or_insert_with(|| began.elapsed());
        }
    }
    from.read_line(&mut line).expect("the end");
    (first.expect("an event"), began.elapsed())
}

/// Starts a provider that answers each request with a stream, and returns its base URL.
fn provider() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
    thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            thread::spawn(move || answer_all(&connection));
        }
    });
    url
}

fn answer_all(connection: &TcpStream) {
    connection.set_nodelay(true).expect("a socket");
    let (mut from, mut to) = (BufReader::new(connection), connection);
    let data = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word \"}}]}\n\n";
    let event = format!("{:x}\r\n{data}\r\n", data.len());
    loop {
        let (mut length, mut line) = (0, String::new());
        while line != "\r\n" {
            line.clear();
            if from.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().expect("a length");
            }
        }
        from.by_ref().take(length).read_to_end(&mut Vec::new()).expect("a body");
        to.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
            .expect("a client");
        for _ in 0..EVENTS {
            to.write_all(event.as_bytes()).expect("a client");
        }
        to.write_all(b"0\r\n\r\n").expect("a client");
    }
}
