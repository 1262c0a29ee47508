//! The proxy between a client and a scripted provider, byte for byte.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use super::request::Request;
use super::{Passed, Proxy, ProxySettings};

/// A record in memory.
#[derive(Clone, Default)]
struct Record(Arc<Mutex<Vec<u8>>>);

impl Write for Record {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("a record").write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Record {
    fn lines(&self) -> Vec<Value> {
        let bytes = self.0.lock().expect("a record").clone();
        String::from_utf8(bytes).expect("text").lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }
}

/// A provider that answers each connection with the next of these parts, in order, and shows what it got. It sends a part when the test
/// allows it.
fn provider(answers: Vec<Vec<&'static str>>, allowed: Receiver<()>) -> (String, Receiver<Request>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/base", listener.local_addr().expect("an address"));
    let (got, requests) = channel();
    thread::spawn(move || {
        for parts in answers {
            let (mut connection, _) = listener.accept().expect("a connection");
            let mut from = BufReader::new(connection.try_clone().expect("a connection"));
            got.send(Request::read(&mut from, &mut connection).expect("a request")).expect("a test that waits");
            for part in parts {
                allowed.recv().expect("a test that waits");
                connection.write_all(part.as_bytes()).expect("a client");
                connection.flush().expect("a client");
            }
        }
    });
    (url, requests)
}

fn proxy(url: &str, record: &Record) -> Proxy {
    let settings =
        ProxySettings { port: 0, targets: vec![("anthropic", url), ("openai", url)], record: Box::new(record.clone()) };
    Proxy::start(settings).expect("a proxy")
}

fn send(proxy: &Proxy, request: &str) -> TcpStream {
    let address = proxy.base_url("").trim_start_matches("http://").trim_end_matches('/').to_owned();
    let mut connection = TcpStream::connect(address).expect("a connection");
    connection.write_all(request.as_bytes()).expect("a proxy");
    connection
}

fn post(path: &str, body: &Value) -> String {
    let (body, key) = (body.to_string(), "x-api-key: secret");
    format!(
        "POST {path} HTTP/1.1\r\nhost: h\r\n{key}\r\naccept-encoding: gzip, br\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn rest(mut connection: TcpStream) -> String {
    let mut all = String::new();
    connection.read_to_string(&mut all).expect("an answer");
    all
}

#[test]
fn question_and_answer_pass_unchanged_and_are_recorded_without_the_key() {
    let (allow, allowed) = channel();
    let answer = r#"{"id":"m","role":"assistant","content":[{"type":"text","text":"Hi"}]}"#;
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nrequest-id: r1\r\nset-cookie: a\r\nset-cookie: b\r\ncontent-length: 69\r\n\r\n";
    let (url, requests) = provider(vec![vec![head, answer]], allowed);
    let record = Record::default();
    let proxy = proxy(&url, &record);
    let body = json!({"model": "m", "max_tokens": 8, "messages": [{"role": "user", "content": "é"}]});
    let connection = send(&proxy, &post("/anthropic/v1/messages?beta=true&key=secret", &body));
    let got = requests.recv().expect("a request");
    assert_eq!(got.target, "/base/v1/messages?beta=true&key=secret");
    assert_eq!(got.body, body.to_string().as_bytes());
    let header = |name: &str| got.header(name).map(str::to_owned);
    assert_eq!(header("x-api-key").as_deref(), Some("secret"));
    assert_eq!(header("accept-encoding").as_deref(), Some("identity"));
    assert_eq!((header("user-agent"), header("accept")), (None, None));
    allow.send(()).and_then(|()| allow.send(())).expect("a provider");
    let came = rest(connection);
    assert!(came.ends_with(answer) && came.contains("request-id: r1") && came.contains("set-cookie: b"), "{came}");
    let passed = proxy.finish();
    assert_eq!(passed, Passed { recorded: 1, ..Passed::default() });
    let mut lines = record.lines();
    let line = lines[0].as_object_mut().expect("an object");
    assert!(line.remove("time").is_some_and(|time| time.as_str().is_some_and(|time| time.ends_with('Z'))));
    assert!(line.remove("seconds").is_some() && line.remove("first_byte").is_some());
    let answer: Value = serde_json::from_str(answer).expect("JSON");
    let expected = json!({"provider": "anthropic", "path": "/v1/messages", "status": 200, "request": body, "response": answer});
    assert_eq!(lines, [expected]);
}

#[test]
fn stream_arrives_event_by_event() {
    let (allow, allowed) = channel();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n";
    let first = "42\r\ndata: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n\r\n";
    let second = "42\r\ndata: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"b\"}}]}\n\n\r\n0\r\n\r\n";
    let (url, requests) = provider(vec![vec![head, first, second]], allowed);
    let record = Record::default();
    let proxy = proxy(&url, &record);
    let body = json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "x"}]});
    let mut from = BufReader::new(send(&proxy, &post("/openai/chat/completions", &body)));
    requests.recv().expect("a request");
    // The first event is there before the provider may send the second one.
    for part in [head, first] {
        allow.send(()).expect("a provider");
        let mut line = String::new();
        let last = if part == head { "\r\n" } else { "\n" };
        while line != last || part == first && !line.is_empty() && line != "\n" {
            line.clear();
            from.read_line(&mut line).expect("a line");
        }
    }
    allow.send(()).expect("a provider");
    let mut all = String::new();
    from.read_to_string(&mut all).expect("the rest");
    assert!(all.ends_with("0\r\n\r\n"), "{all}");
    proxy.finish();
    assert_eq!(record.lines()[0]["response"]["choices"][0]["message"]["content"], "ab");
}

#[test]
fn failures_are_recorded_and_said() {
    let (allow, allowed) = channel();
    let refused = "HTTP/1.1 529 Overloaded\r\ncontent-type: application/json\r\ncontent-length: 26\r\n\r\n{\"error\":{\"type\":\"busy\"}}\n";
    let cut = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n{\"id\":";
    let (url, requests) = provider(vec![vec![refused], vec![cut], vec![]], allowed);
    let record = Record::default();
    let proxy = proxy(&url, &record);
    let body = json!({"model": "m", "input": [{"role": "user", "content": "x"}], "stream": false});
    for expected in ["HTTP/1.1 529", "HTTP/1.1 200"] {
        let connection = send(&proxy, &post("/openai/responses", &body));
        requests.recv().expect("a request");
        allow.send(()).expect("a provider");
        let came = rest(connection);
        assert!(came.starts_with(expected), "{came}");
    }
    let unanswered = rest(send(&proxy, &post("/openai/responses", &body)));
    assert!(unanswered.starts_with("HTTP/1.1 502") && unanswered.contains("gave no answer"), "{unanswered}");
    assert!(!unanswered.contains("secret"));
    let lines = record.lines();
    assert_eq!(lines[0]["error"]["error"]["type"], "busy");
    assert!(lines[1]["error"].as_str().is_some_and(|error| error.contains("ended the answer early")), "{}", lines[1]);
    assert!(lines[2]["error"].as_str().is_some_and(|error| error.contains("gave no answer")), "{}", lines[2]);
    assert_eq!(proxy.finish().recorded, 3);
}

#[test]
fn other_requests_are_counted_and_not_recorded() {
    let (allow, allowed) = channel();
    let models = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
    let (url, requests) = provider(vec![vec![models], vec![models]], allowed);
    let record = Record::default();
    let proxy = proxy(&url, &record);
    let nonsense = "POST /anthropic/v1/messages HTTP/1.1\r\nconnection: close\r\ncontent-length: 3\r\n\r\nxyz";
    for request in ["GET /openai/models HTTP/1.1\r\nconnection: close\r\n\r\n", nonsense] {
        let connection = send(&proxy, request);
        requests.recv().expect("a request");
        allow.send(()).expect("a provider");
        assert!(rest(connection).ends_with("\r\n\r\n{}"));
    }
    let unknown = rest(send(&proxy, "GET /gemini/v1 HTTP/1.1\r\nconnection: close\r\n\r\n"));
    assert!(unknown.starts_with("HTTP/1.1 404") && unknown.contains("/anthropic or /openai"), "{unknown}");
    assert_eq!(proxy.finish(), Passed { recorded: 0, others: 1, unread: 2, unwritten: None });
    assert!(record.lines().is_empty());
}
