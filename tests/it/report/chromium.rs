//! Drives Debian's `chromium` without a window, by the DevTools protocol over a pair of pipes: JSON, each message ended by a
//! zero byte.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// One page of one browser with a profile of its own.
pub struct Browser {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    last: u64,
    session: Option<String>,
    /// Events in order.
    events: Vec<Value>,
    _profile: TempDir,
}

/// Longest time for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

impl Browser {
    /// Fails where chromium is not installed: only tests that are ignored by default may ask for it.
    pub fn start() -> Self {
        let there = Command::new("sh").args(["-c", "command -v chromium"]).output().is_ok_and(|output| output.status.success());
        assert!(there, "this test needs the program chromium: apt-get install chromium");
        let profile = tempfile::tempdir().expect("a temporary folder");
        // The browser reads from its descriptor 3 and writes to 4.
        let flags = "--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --remote-debugging-pipe";
        let script = format!(r#"exec chromium {flags} --user-data-dir="$1" about:blank 3<&0 4>&1 1>&2"#);
        let mut child = Command::new("sh")
            .args(["-c", &script, "chromium"])
            .arg(profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell");
        let (to, out) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
        let (send, from) = channel();
        std::thread::spawn(move || {
            for message in BufReader::new(out).split(0) {
                let Ok(message) = message else { return };
                let message = serde_json::from_slice(&message).expect("DevTools speaks JSON");
                if send.send(message).is_err() {
                    return;
                }
            }
        });
        let mut browser = Self { child, to, from, last: 0, session: None, events: Vec::new(), _profile: profile };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}))["targetId"].clone();
        let attached = browser.call("Target.attachToTarget", json!({"targetId": target, "flatten": true}));
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// One command and its result.
    #[track_caller]
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let mut message = json!({"id": self.last, "method": method, "params": params});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.to.write_all(format!("{message}\0").as_bytes()).expect("the browser listens");
        loop {
            let answer = self.from.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("{method}: {error}"));
            if answer["id"] == json!(self.last) {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
            self.events.push(answer);
        }
    }

    /// Sets the size of the window and the colour scheme.
    pub fn window(&mut self, width: u32, height: u32, scheme: &str) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", size);
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.call("Emulation.setEmulatedMedia", features);
    }

    /// Opens a file and waits until it is loaded and painted once. Returns the milliseconds.
    pub fn open(&mut self, path: &Path) -> f64 {
        let begin = Instant::now();
        self.call("Page.navigate", json!({"url": format!("file://{}", path.display())}));
        let loaded = "new Promise(done => { const painted = () => requestAnimationFrame(() => requestAnimationFrame(done)); \
                      document.readyState === 'loading' ? addEventListener('DOMContentLoaded', painted) : painted(); })";
        self.eval(loaded);
        begin.elapsed().as_secs_f64() * 1e3
    }

    /// Returns the value of an expression on the page; waits if it is a promise.
    #[track_caller]
    pub fn eval(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true, "userGesture": true});
        let result = self.call("Runtime.evaluate", params);
        assert!(result["exceptionDetails"].is_null(), "{expression}: {}", result["exceptionDetails"]);
        result["result"]["value"].clone()
    }

    #[track_caller]
    pub fn number(&mut self, expression: &str) -> f64 {
        let value = self.eval(expression);
        value.as_f64().unwrap_or_else(|| panic!("{expression}: {value}"))
    }

    #[track_caller]
    pub fn text(&mut self, expression: &str) -> String {
        let value = self.eval(expression);
        value.as_str().unwrap_or_else(|| panic!("{expression}: {value}")).to_owned()
    }

    /// Moves the mouse to the middle of the element of a selector, and clicks there if asked. Waits until the element is at rest: a page
    /// that still scrolls, or lays out its rows, would move it away from the mouse.
    #[track_caller]
    pub fn point(&mut self, selector: &str, click: bool) {
        let middle = format!(
            "new Promise(done => {{ const of = document.querySelector({selector:?}); let before = ''; \
             const wait = () => {{ of.scrollIntoView({{block: 'center', behavior: 'instant'}}); const box = of.getBoundingClientRect(); \
             const at = [box.x + box.width / 2, box.y + box.height / 2]; const now = `${{at}}`; \
             if (now === before) done(at); else {{ before = now; setTimeout(wait, 50); }} }}; wait(); }})"
        );
        let at = self.eval(&middle);
        let mouse = |kind: &str, count: u32| json!({"type": kind, "x": at[0], "y": at[1], "button": "left", "clickCount": count});
        self.call("Input.dispatchMouseEvent", json!({"type": "mouseMoved", "x": at[0], "y": at[1]}));
        if click {
            self.call("Input.dispatchMouseEvent", mouse("mousePressed", 1));
            self.call("Input.dispatchMouseEvent", mouse("mouseReleased", 1));
        }
    }

    /// Presses a key in the focused element.
    pub fn press(&mut self, key: &str) {
        let codes = [("Tab", 9), ("Enter", 13), ("ArrowLeft", 37), ("ArrowRight", 39), ("Escape", 27)];
        let code = codes.iter().find(|(name, _)| *name == key).map_or(0, |(_, code)| *code);
        let text = if key == "Enter" { "\r" } else { "" };
        let event = |kind: &str| json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text});
        self.call("Input.dispatchKeyEvent", event("keyDown"));
        self.call("Input.dispatchKeyEvent", event("keyUp"));
    }

    /// Returns what the page reported: console messages, exceptions, violations of its content security policy.
    pub fn complaints(&mut self) -> Vec<String> {
        self.eval("0");
        let complaints = ["Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"];
        let is_complaint = |event: &&Value| event["method"].as_str().is_some_and(|method| complaints.contains(&method));
        self.events.iter().filter(is_complaint).map(Value::to_string).collect()
    }

    /// Returns the address of every request of the page.
    pub fn requests(&mut self) -> Vec<String> {
        self.eval("0");
        let sent = self.events.iter().filter(|event| event["method"] == "Network.requestWillBeSent");
        sent.filter_map(|event| event["params"]["request"]["url"].as_str()).map(str::to_owned).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.to.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(5) {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
