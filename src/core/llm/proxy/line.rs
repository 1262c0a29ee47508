//! A line of the record: a question to a model, with its answer.

use std::borrow::Cow;
use std::io::Read;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::streamed;

/// The last parts of the paths of questions to a model: Messages, Chat Completions and Responses.
const QUESTIONS: [&str; 3] = ["/messages", "/chat/completions", "/responses"];

/// More bytes of a body are not decompressed. A body that has more is not recorded.
const MAX_BYTES: u64 = 1 << 30;

/// What becomes of an exchange in the record.
pub(super) enum Line {
    /// A line, with its end.
    Record(String),
    /// It was no question to a model.
    Other,
    /// Its body is no JSON.
    Unread,
}

/// What is recorded of an exchange.
pub(super) struct Facts<'a> {
    pub provider: &'static str,
    /// Path below the base URL, with its query.
    pub path: &'a str,
    pub method: &'a str,
    pub request: Body<'a>,
    pub began: Timestamp,
    /// Seconds until the first byte of the answer's body, and until its last.
    pub first_byte: Option<f64>,
    pub seconds: f64,
    pub outcome: Result<Answer<'a>, String>,
}

/// The bytes of a body, and how they are compressed.
pub(super) struct Body<'a> {
    pub bytes: &'a [u8],
    pub encoding: &'a str,
}

/// The answer as far as it came.
pub(super) struct Answer<'a> {
    pub status: u16,
    pub body: Body<'a>,
    pub is_stream: bool,
    /// Why the answer is not whole.
    pub cut: Option<String>,
}

impl Facts<'_> {
    pub fn line(&self) -> Line {
        let path = self.path.split('?').next().unwrap_or_default().trim_end_matches('/');
        if self.method != "POST" || !QUESTIONS.iter().any(|end| path.ends_with(end)) {
            return Line::Other;
        }
        let Some(request) = self.request.json() else { return Line::Unread };
        let mut record = json!({
            "time": self.began.to_string(),
            "provider": self.provider,
            "path": path,
            "seconds": rounded(self.seconds),
            "first_byte": self.first_byte.map(rounded),
        });
        match &self.outcome {
            Ok(answer) => {
                record["status"] = answer.status.into();
                record["request"] = request;
                answer.add_to(&mut record);
            }
            Err(error) => {
                record["request"] = request;
                record["error"] = error.as_str().into();
            }
        }
        Line::Record(format!("{record}\n"))
    }
}

impl Answer<'_> {
    fn add_to(&self, record: &mut Value) {
        let text = || String::from_utf8_lossy(self.body.bytes).into_owned().into();
        let joined = if self.is_stream { streamed::body(&self.body.bytes()) } else { self.body.json() };
        let is_failure = !(200..300).contains(&self.status);
        let whole = joined.unwrap_or_else(text);
        record[if is_failure { "error" } else { "response" }] = whole;
        if let Some(cut) = &self.cut {
            record["error"] = cut.as_str().into();
        }
    }
}

impl Body<'_> {
    /// Returns the bytes without compression; as they are if the compression is not known.
    fn bytes(&self) -> Cow<'_, [u8]> {
        let mut bytes = Vec::new();
        // What came before an error is JSON only if it is whole.
        let _ = match self.encoding {
            "gzip" => flate2::read::MultiGzDecoder::new(self.bytes).take(MAX_BYTES).read_to_end(&mut bytes),
            "deflate" => flate2::read::ZlibDecoder::new(self.bytes).take(MAX_BYTES).read_to_end(&mut bytes),
            "zstd" => match ruzstd::decoding::StreamingDecoder::new(self.bytes) {
                Ok(decoder) => decoder.take(MAX_BYTES).read_to_end(&mut bytes),
                Err(_) => return Cow::default(),
            },
            _ => return Cow::Borrowed(self.bytes),
        };
        bytes.into()
    }

    fn json(&self) -> Option<Value> {
        serde_json::from_slice(&self.bytes()).ok()
    }
}

/// Seconds, to a thousandth.
fn rounded(seconds: f64) -> f64 {
    (seconds * 1_000.0).round() / 1_000.0
}
