//! Reads a request of HTTP/1.1 from a connection.

use std::io::{self, BufRead, Read, Write};

/// Longer heads are refused. Servers allow 8 to 64 KiB.
const MAX_HEAD_BYTES: u64 = 64 << 10;
/// More headers are refused. nginx and Node allow about as many.
const MAX_HEADERS: usize = 128;
/// Larger bodies are refused: the largest that a provider takes is 32 MB (Anthropic's Messages API), or 512 MB for a file.
const MAX_BODY_BYTES: u64 = 512 << 20;

/// A request as it came.
pub(super) struct Request {
    pub method: String,
    /// Path and query.
    pub target: String,
    pub headers: Vec<(String, Vec<u8>)>,
    pub body: Vec<u8>,
    /// The client knows HTTP/1.1, so it reads a body in chunks.
    pub reads_chunks: bool,
    /// The client may send another request on this connection.
    pub stays: bool,
}

/// Why no request could be read.
#[derive(Debug)]
pub(super) enum ReadError {
    /// The client closed the connection.
    Closed,
    /// It is no request that a proxy can pass on: the status to answer with, and why.
    Refused(u16, &'static str),
}

impl From<io::Error> for ReadError {
    fn from(_: io::Error) -> Self {
        Self::Closed
    }
}

impl Request {
    /// Reads the next request. `to` gets `100 Continue` if the client waits for it.
    pub fn read(from: &mut impl BufRead, to: &mut impl Write) -> Result<Self, ReadError> {
        let head = head(from)?;
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut parsed = httparse::Request::new(&mut headers);
        match parsed.parse(&head) {
            Ok(httparse::Status::Complete(_)) => {}
            Err(httparse::Error::TooManyHeaders) => return Err(ReadError::Refused(431, "it has too many headers")),
            _ => return Err(ReadError::Refused(400, "it is no request of HTTP/1.1")),
        }
        let reads_chunks = parsed.version == Some(1);
        let mut request = Self {
            method: parsed.method.unwrap_or_default().to_owned(),
            target: parsed.path.unwrap_or_default().to_owned(),
            headers: parsed.headers.iter().map(|header| (header.name.to_ascii_lowercase(), header.value.to_vec())).collect(),
            body: Vec::new(),
            reads_chunks,
            stays: reads_chunks,
        };
        request.stays &= !request.has("connection", "close");
        if request.header("upgrade").is_some() {
            return Err(ReadError::Refused(426, "only HTTP is passed on, no WebSocket"));
        }
        if request.has("expect", "100-continue") {
            to.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
            to.flush()?;
        }
        request.body = request.read_body(from)?;
        Ok(request)
    }

    /// Returns the value of a header; its name is in small letters.
    pub fn header(&self, name: &str) -> Option<&str> {
        let (_, value) = self.headers.iter().find(|(own, _)| own == name)?;
        std::str::from_utf8(value).ok()
    }

    fn has(&self, name: &str, value: &str) -> bool {
        self.header(name).is_some_and(|own| own.to_ascii_lowercase().contains(value))
    }

    /// A body with two lengths is refused: the proxy and the provider could read it differently.
    fn read_body(&self, from: &mut impl BufRead) -> Result<Vec<u8>, ReadError> {
        let lengths: Vec<_> = self.headers.iter().filter(|(name, _)| name == "content-length").collect();
        match (self.header("transfer-encoding"), lengths.as_slice()) {
            (None, []) => Ok(Vec::new()),
            (None, [_]) => {
                let length = self.header("content-length").and_then(|length| length.trim().parse().ok());
                let mut body = Vec::new();
                read_exactly(from, length.ok_or(ReadError::Refused(400, "its length is no number"))?, &mut body)?;
                Ok(body)
            }
            (Some(encoding), []) if encoding.eq_ignore_ascii_case("chunked") => chunks(from),
            _ => Err(ReadError::Refused(400, "it has several lengths")),
        }
    }
}

/// Reads the lines up to the empty one.
fn head(from: &mut impl BufRead) -> Result<Vec<u8>, ReadError> {
    let (mut head, mut limited) = (Vec::new(), from.take(MAX_HEAD_BYTES));
    loop {
        let before = head.len();
        limited.read_until(b'\n', &mut head)?;
        match &head[before..] {
            b"\r\n" | b"\n" if before > 0 => return Ok(head),
            // Some clients end the body before with an empty line.
            b"\r\n" | b"\n" => head.clear(),
            line if line.ends_with(b"\n") => {}
            _ if limited.limit() == 0 => return Err(ReadError::Refused(431, "its head is too long")),
            _ => return Err(ReadError::Closed),
        }
    }
}

fn read_exactly(from: &mut impl BufRead, length: u64, body: &mut Vec<u8>) -> Result<(), ReadError> {
    if length > MAX_BODY_BYTES - body.len() as u64 {
        return Err(ReadError::Refused(413, "its body is too large"));
    }
    let read = from.take(length).read_to_end(body)?;
    if read as u64 == length { Ok(()) } else { Err(ReadError::Closed) }
}

fn chunks(from: &mut impl BufRead) -> Result<Vec<u8>, ReadError> {
    let mut body = Vec::new();
    loop {
        let line = line(from)?;
        let size = line.split(';').next().unwrap_or_default().trim();
        let size = u64::from_str_radix(size, 16).map_err(|_| ReadError::Refused(400, "a chunk has no size"))?;
        if size == 0 {
            // Trailers say nothing that a provider needs.
            while !line_is_empty(from)? {}
            return Ok(body);
        }
        read_exactly(from, size, &mut body)?;
        if !line_is_empty(from)? {
            return Err(ReadError::Refused(400, "a chunk is longer than its size"));
        }
    }
}

fn line_is_empty(from: &mut impl BufRead) -> Result<bool, ReadError> {
    Ok(line(from)?.is_empty())
}

fn line(from: &mut impl BufRead) -> Result<String, ReadError> {
    let mut line = Vec::new();
    from.take(MAX_HEAD_BYTES).read_until(b'\n', &mut line)?;
    if line.last() != Some(&b'\n') {
        return Err(ReadError::Closed);
    }
    Ok(String::from_utf8_lossy(line.trim_ascii_end()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &str) -> Result<Request, ReadError> {
        Request::read(&mut bytes.as_bytes(), &mut Vec::new())
    }

    #[test]
    fn bodies_with_a_length_and_in_chunks_are_read() {
        let plain = "POST /v1/messages HTTP/1.1\r\nContent-Length: 4\r\n\r\n{\"a\"rest";
        let chunked =
            "\r\nPOST /v1/messages HTTP/1.1\r\ntransfer-encoding: Chunked\r\n\r\n3;x=y\r\n{\"a\r\n1\r\n\"\r\n0\r\nt: 1\r\n\r\n";
        for bytes in [plain, chunked] {
            let request = read(bytes).unwrap_or_else(|_| panic!("{bytes}"));
            assert_eq!((request.method.as_str(), request.target.as_str()), ("POST", "/v1/messages"));
            assert_eq!((request.body.as_slice(), request.stays), (&b"{\"a\""[..], true));
        }
    }

    #[test]
    fn old_clients_close_the_connection() {
        let request = read("GET /v1/models HTTP/1.0\r\n\r\n").expect("a request");
        assert_eq!((request.reads_chunks, request.stays, request.body.len()), (false, false, 0));
        assert!(!read("GET / HTTP/1.1\r\nConnection: Close\r\n\r\n").expect("a request").stays);
    }

    #[test]
    fn what_cannot_be_passed_on_is_refused() {
        let long = format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "x".repeat(70_000));
        let cases = [
            ("nonsense\r\n\r\n", 400),
            (long.as_str(), 431),
            ("POST / HTTP/1.1\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\ncontent-length: 4\r\ncontent-length: 5\r\n\r\n12345", 400),
            ("POST / HTTP/1.1\r\ncontent-length: -4\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\ncontent-length: 18446744073709551615\r\n\r\n", 413),
            ("POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n", 413),
            ("POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1\r\nab\r\n", 400),
            ("GET /responses HTTP/1.1\r\nupgrade: websocket\r\n\r\n", 426),
        ];
        for (bytes, expected) in cases {
            let shown = bytes.get(..60).unwrap_or(bytes);
            match read(bytes) {
                Err(ReadError::Refused(status, _)) => assert_eq!(status, expected, "{shown}"),
                Err(ReadError::Closed) => panic!("{shown}: closed"),
                Ok(_) => panic!("{shown}: read"),
            }
        }
        for cut in ["", "GET / HTTP/1.1\r\nx", "POST / HTTP/1.1\r\ncontent-length: 4\r\n\r\n{"] {
            assert!(matches!(read(cut), Err(ReadError::Closed)), "{cut}");
        }
    }
}
