//! `recompact record`: starts an agent behind a proxy that records what it asks models, or listens for one.

use std::ffi::OsString;
use std::fs;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::thread;
use std::time::Duration;

use clap::Args;
use recompact::llm::proxy::{Passed, Proxy, ProxySettings, TargetKind};
use recompact::report::escape;
use recompact::util::text::plural;

use crate::cli::error::Failure;
use crate::cli::{interrupt, output};

/// How often it is looked whether the agent ended, or the user stopped the program.
const LOOK: Duration = Duration::from_millis(20);

#[derive(Args)]
pub struct Record {
    /// The provider to pass requests on to: `anthropic` or `openai`, or another one that speaks the same protocol, as
    /// `openai=https://openrouter.ai/api/v1`. The URL is what you would give the agent as its base URL
    #[arg(long = "to", value_name = "PROVIDER[=URL]", required = true)]
    targets: Vec<String>,
    /// The file to write, a line for each request; it must be new
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    /// Listen on this port of the loopback address. Without it, the system chooses one
    #[arg(long, value_name = "PORT", required_unless_present = "program")]
    listen: Option<u16>,
    /// The agent to start, and its arguments. ANTHROPIC_BASE_URL or OPENAI_BASE_URL name the proxy in its environment. Without it, the proxy
    /// listens until Ctrl-C
    #[arg(last = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

impl Record {
    pub fn run(self) -> Result<(), Failure> {
        let targets = self.targets.iter().map(|written| target(written)).collect::<Result<Vec<_>, _>>()?;
        for (at, (kind, _)) in targets.iter().enumerate() {
            if targets[..at].iter().any(|(other, _)| other.name == kind.name) {
                return Err(Failure::Usage(format!("--to {}: it is named twice", kind.name)));
            }
        }
        let record = output::open_new(&self.out)?;
        let outcome = self.record(&targets, Box::new(record));
        // A file without a line is no transcript.
        if fs::metadata(&self.out).is_ok_and(|metadata| metadata.is_file() && metadata.len() == 0) {
            let _ = fs::remove_file(&self.out);
        }
        outcome
    }

    fn record(&self, targets: &[(&TargetKind, String)], record: Box<fs::File>) -> Result<(), Failure> {
        let settings = ProxySettings {
            port: self.listen.unwrap_or_default(),
            targets: targets.iter().map(|(kind, url)| (kind.name, url.as_str())).collect(),
            record,
        };
        let proxy = Proxy::start(settings).map_err(|error| Failure::Usage(error.to_string()))?;
        for (kind, url) in targets {
            let base = proxy.base_url(kind.name);
            output::say(&format!("recording {}: base URL {base}, passed on to {}", kind.name, escape::terminal(url)));
        }
        interrupt::listen(true);
        let ended = self.wait(targets, &proxy)?;
        let passed = proxy.finish();
        self.say(&passed);
        match ended {
            Some(status) if !status.success() => Err(Failure::Program(status)),
            _ if passed.recorded == 0 => Err(Failure::Usage(nothing_came(targets, &passed))),
            _ => Ok(()),
        }
    }

    /// Waits until the agent ends, or without one until the user stops the program. Ctrl-C reaches the agent too, which decides what it
    /// does.
    fn wait(&self, targets: &[(&TargetKind, String)], proxy: &Proxy) -> Result<Option<ExitStatus>, Failure> {
        let Some((program, arguments)) = self.program.split_first() else {
            while !interrupt::requested() {
                thread::sleep(LOOK);
            }
            return Ok(None);
        };
        let mut command = Command::new(program);
        command.args(arguments);
        for (kind, _) in targets {
            command.envs(kind.variables.iter().map(|variable| (variable, proxy.base_url(kind.name))));
        }
        let failed = |error| Failure::Usage(format!("{} cannot be run: {error}", escape::terminal(&program.to_string_lossy())));
        let mut agent = command.spawn().map_err(failed)?;
        loop {
            if let Some(status) = agent.try_wait().map_err(failed)? {
                return Ok(Some(status));
            }
            // Without a terminal, only this process got the signal.
            if interrupt::requested() && !io::stdin().is_terminal() {
                agent.kill().map_err(failed)?;
            }
            thread::sleep(LOOK);
        }
    }

    fn say(&self, passed: &Passed) {
        let out = escape::terminal(&self.out.display().to_string()).into_owned();
        output::say(&format!("{out}: {} to models recorded", plural(passed.recorded, "request")));
        if passed.others > 0 {
            output::say(&format!("not recorded: {} for other things, such as lists of models", plural(passed.others, "request")));
        }
        if passed.unread > 0 {
            let why = "whose path no provider has, or whose body is no JSON";
            output::say(&format!("not recorded: {} {why}", plural(passed.unread, "request")));
        }
        if let Some(error) = &passed.unwritten {
            output::say(&format!("{out}: what came after an error is not recorded: {error}"));
        }
        if passed.recorded > 0 {
            output::say(&format!("next: recompact inspect {out}"));
        }
    }
}

/// Reads `PROVIDER` or `PROVIDER=URL`.
fn target(written: &str) -> Result<(&'static TargetKind, String), Failure> {
    let (name, url) = written.split_once('=').map_or((written, None), |(name, url)| (name, Some(url)));
    let kind = TargetKind::find(name).map_err(|error| Failure::Usage(format!("--to {written}: {error}")))?;
    Ok((kind, url.unwrap_or(kind.base_url()).to_owned()))
}

fn nothing_came(targets: &[(&TargetKind, String)], passed: &Passed) -> String {
    let variables: Vec<_> = targets.iter().map(|(kind, _)| kind.variables[0]).collect();
    let others = if passed.others + passed.unread > 0 { "no question to a model came" } else { "no request came" };
    format!(
        "{others}. Does the program read {}? Otherwise give it the base URL above by its own settings",
        variables.join(" and ")
    )
}
