//! Ends the programs of a run that cannot end them itself, because it was killed or crashed.
//!
//! The guard is a shell that reads the groups of the running programs from a pipe. The system closes the pipe when this process ends, in
//! whatever way; then the guard ends the groups that are left, and the processes that left their group, by their mark. Where there is no
//! shell, programs are expected to end with their standard input.

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// `$1`: the beginning of the marks of this run, `RECOMPACT_GROUP=123-`. A run that ended its programs itself leaves no group. A process
/// may fork during a search, so there are two.
const SCRIPT: &str = r#"trap '' INT TERM HUP
groups=' '
while read -r sign group; do
  case $sign in
  +) groups="$groups$group " ;;
  -) groups="${groups%% $group *} ${groups#* $group }" ;;
  esac
done
[ "$groups" = ' ' ] && exit
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
for search in 1 2; do
  for file in $(grep -lsz -- "^$1" /proc/[0-9]*/environ); do
    process=${file#/proc/}
    kill -s KILL "${process%/environ}" 2>/dev/null
  done
done"#;

static GUARD: Mutex<Option<Child>> = Mutex::new(None);

/// Starts the guard, unless it runs. `variable` is the environment variable with the marks.
pub fn begin(variable: &str) {
    let mut guard = GUARD.lock().unwrap_or_else(PoisonError::into_inner);
    if cfg!(unix) && guard.is_none() {
        let mut command = Command::new("sh");
        command.args(["-c", SCRIPT, "sh", &format!("{variable}={}-", std::process::id())]).current_dir("/");
        // The first Ctrl-C of a terminal reaches this process only.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        *guard = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok();
    }
}

/// Ends this process group when this process ends.
pub fn watch(group: u32) {
    write('+', group);
}

/// This process group has ended: its number may be that of another one soon.
pub fn forget(group: u32) {
    write('-', group);
}

fn write(sign: char, group: u32) {
    let mut guard = GUARD.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pipe) = guard.as_mut().and_then(|guard| guard.stdin.as_mut()) {
        // Without the guard, the programs end as they would on a system without a shell.
        let _ = pipe.write_all(format!("{sign} {group}\n").as_bytes());
    }
}
