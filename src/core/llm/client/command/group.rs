//! A program and everything it starts, which end together.
//!
//! The program gets its own process group, so that it can be ended together with its children, and Ctrl-C does not reach it: an answer
//! that is already paid for can still arrive. A child that leaves the group (`setsid`) keeps a variable in its environment, by which it
//! is found where the system lists environments (Linux).

use std::collections::BTreeMap;
use std::io;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::guard;

/// The environment variable whose value belongs to one group only.
const GROUP_VARIABLE: &str = "RECOMPACT_GROUP";

/// A started program. What is left of its group ends when this is dropped.
pub struct Group {
    pub child: Child,
    /// Value of [`GROUP_VARIABLE`].
    mark: String,
}

/// The groups that run at present: process group by mark.
static RUNNING: Mutex<BTreeMap<String, u32>> = Mutex::new(BTreeMap::new());

fn running() -> MutexGuard<'static, BTreeMap<String, u32>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends all programs at once, for a program that is about to end itself.
pub fn end_programs() {
    for (mark, group) in &*running() {
        end(Some(*group), mark);
    }
}

impl Group {
    pub fn spawn(mut command: Command) -> io::Result<Self> {
        static STARTED: AtomicU64 = AtomicU64::new(0);
        let mark = format!("{}-{}", std::process::id(), STARTED.fetch_add(1, Ordering::Relaxed));
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.env(GROUP_VARIABLE, &mark);
        guard::begin(GROUP_VARIABLE);
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        running().insert(mark.clone(), child.id());
        guard::watch(child.id());
        Ok(Self { child, mark })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        running().remove(&self.mark);
        guard::forget(self.child.id());
        // The id of a program that ended may belong to another one by now.
        let group = if matches!(self.child.try_wait(), Ok(Some(_))) { None } else { Some(self.child.id()) };
        end(group, &self.mark);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How often marked processes are searched at most.
#[cfg(unix)]
const SEARCHES: usize = 10;

/// Ends a process group and the processes that carry its mark. A process that forks or starts a program during a search may be missed,
/// so the search is repeated until two in a row find none.
#[cfg(unix)]
fn end(group: Option<u32>, mark: &str) {
    let mut targets: Vec<String> = group.map(|group| format!("-{group}")).into_iter().chain(marked(mark)).collect();
    let mut found_none = 0;
    for _ in 0..SEARCHES {
        if targets.is_empty() {
            found_none += 1;
        } else {
            found_none = 0;
            let kill = "for p; do kill -s KILL -- \"$p\" 2>/dev/null; done";
            let _ = Command::new("sh").args(["-c", kill, "sh"]).args(&targets).status();
        }
        if found_none == 2 {
            break;
        }
        targets = marked(mark);
    }
}

#[cfg(not(unix))]
fn end(_: Option<u32>, _: &str) {}

/// Returns the ids of the processes whose environment has this mark. Empty where `/proc` does not list environments.
#[cfg(unix)]
fn marked(mark: &str) -> Vec<String> {
    let variable = format!("{GROUP_VARIABLE}={mark}");
    let has_mark = |id: &String| {
        let environment = std::fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|entry| entry == variable.as_bytes())
    };
    let entries = std::fs::read_dir("/proc").into_iter().flatten().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    entries.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit())).filter(has_mark).collect()
}
