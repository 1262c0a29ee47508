//! Answers of servers and programs: any bytes are an answer or an error of one line, and neither holds the key.

use std::sync::LazyLock;
use std::time::Duration;

use recompact::llm::client::{Address, Connection, PROTOCOLS, Provider};
use serde_json::Map;

const KEY: &str = "sk-a-key-that-is-a-secret";

static PROVIDERS: LazyLock<Vec<Box<dyn Provider>>> = LazyLock::new(|| {
    let connect = |protocol: &recompact::llm::client::Protocol| {
        let address =
            Address::parse_for(&format!("{}:model", protocol.name), protocol.purpose).expect("a protocol").expect("a model");
        let connection = Connection {
            base_url: protocol.base_url.to_owned(),
            key: Some(KEY.to_owned()),
            key_variable: protocol.key_variable.to_owned(),
            timeout: Duration::from_secs(1),
            params: Map::new(),
        };
        address.connect(&connection).expect("no connection is opened yet")
    };
    PROTOCOLS.iter().map(connect).collect()
});

pub fn run(data: &[u8]) {
    for provider in &*PROVIDERS {
        match provider.read(data) {
            Ok(answer) => assert!(!answer.text.contains(KEY)),
            Err(rejection) => assert!(!rejection.message().contains(KEY) && !rejection.message().contains('\n')),
        }
    }
}
