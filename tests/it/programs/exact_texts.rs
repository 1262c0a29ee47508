//! Texts that few languages can hold come back from a program as it wrote them.

use tempfile::TempDir;

use super::{is_installed, write};
use crate::support::program::run;

/// Writes half of a surrogate pair in place of the newest message of each request.
const PROGRAM: &str = r#"
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "start":
        answer = {"protocol": 1, "shape": "anthropic"}
    else:
        newest = request["messages"][-1]
        answer = {"call": request["call"], "replace": [{"replaces": [newest["id"]], "role": "user", "content": "half \ud83d"}]}
    print(json.dumps(answer), flush=True)
"#;

#[test]
fn half_of_a_surrogate_pair_stays() {
    if !is_installed("python3") {
        return;
    }
    let folder = TempDir::new().expect("a temporary folder");
    let program = format!("p=command:python3 {}", write(folder.path(), "half.py", PROGRAM));
    let file = write(folder.path(), "requests.txt", "");
    run(["replay", "awkward/surrogates.jsonl", "-p", &program, "--contexts", &file]).printed();
    let requests = std::fs::read_to_string(&file).expect("the requests");
    assert!(requests.lines().count() > 2, "{requests}");
    assert!(requests.lines().all(|request| request.contains(r#""half \ud83d""#)), "{requests}");
}
