//! The texts of a session: prose with names and paths, code, and logs. Words repeat as in a real project; numbers, times and
//! hashes between them do not.

use std::fmt::Write;

use super::random::Random;

const WORDS: &str = "the a of to and in is it that we now this for with not when from by on so as are be or but still \
    test call file line value check error change read write first last only because before after missing returned handler \
    message request response field config index result function module default parser writer buffer queue session header \
    update remove rename add keep move fix fails passes compiles expects";
const PARTS: &str = "parse read write retry queue header session token index batch buffer cursor frame route cache lease shard \
    ledger signal worker digest schema column stream policy replay report window budget anchor vector";
const FOLDERS: &str = "src/net src/store src/format src/cli src/report tests benches docs/guide";
const KEYWORDS: [&str; 6] = ["let", "pub fn", "const", "return", "match", "use"];

pub struct Language {
    words: Vec<&'static str>,
    names: Vec<String>,
    pub paths: Vec<String>,
}

impl Language {
    pub fn new(files: usize, random: &mut Random) -> Self {
        let (parts, folders) = (list(PARTS), list(FOLDERS));
        let mut name = || [random.pick(&parts), random.pick(&parts)];
        let names = (0..300).map(|index| if index % 3 == 0 { camel(name()) } else { name().join("_") }).collect();
        let stems: Vec<_> = (0..files).map(|_| name().join("_")).collect();
        let paths = stems.iter().map(|stem| format!("{}/{stem}.rs", random.pick(&folders))).collect();
        Self { words: list(WORDS), names, paths }
    }

    /// Generates a text of at least this many bytes; it ends after a complete line.
    pub fn fill(&self, bytes: usize, random: &mut Random, line: fn(&Self, &mut Random, &mut String)) -> String {
        let mut text = String::with_capacity(bytes + 200);
        while text.len() < bytes {
            line(self, random, &mut text);
        }
        text
    }

    /// Returns a random name of the project; some names are much more frequent than others.
    pub fn name(&self, random: &mut Random) -> &str {
        let end = random.between(1..self.names.len());
        &self.names[random.below(end)]
    }

    pub fn sentence(&self, random: &mut Random, out: &mut String) {
        for word in 0..random.between(6..18) {
            out.push_str(if word == 0 { "" } else { " " });
            match random.below(12) {
                0 => write(out, format_args!("`{}`", self.name(random))),
                1 => out.push_str(random.pick(&self.paths)),
                _ => out.push_str(random.pick(&self.words)),
            }
        }
        out.push_str(if random.chance(20) { ".\n\n" } else { ". " });
    }

    pub fn code_line(&self, random: &mut Random, out: &mut String) {
        let indent = 4 * random.below(5);
        let (keyword, name) = (random.pick(&KEYWORDS), self.name(random));
        let (function, argument) = (self.name(random), self.name(random));
        match random.below(8) {
            0 => out.push('\n'),
            1 => write(out, format_args!("{:indent$}// {} {}\n", "", random.pick(&self.words), random.pick(&self.words))),
            2 => write(out, format_args!("{:indent$}}}\n", "")),
            3 => write(out, format_args!("{:indent$}if {name} != \"{argument}\" {{\n", "")),
            4 => write(out, format_args!("{:indent$}{name}.{function}({argument}, {})?;\n", "", random.below(4_096))),
            _ => write(out, format_args!("{:indent$}{keyword} {name} = {function}(&{argument});\n", "")),
        }
    }

    pub fn log_line(&self, random: &mut Random, out: &mut String) {
        let (name, path) = (self.name(random), random.pick(&self.paths));
        match random.below(6) {
            0 => write(out, format_args!("{path}:{}:{}: error: expected {name}\n", random.below(900), random.below(90))),
            1 => write(out, format_args!("[12:{:02}:{:02}.{:06}] ", random.below(60), random.below(60), random.below(1_000_000))),
            2 => write(out, format_args!("commit {:016x}{:016x}\n", random.next(), random.next())),
            3 => write(out, format_args!("✓ test {name}::{} ({} ms)\n", random.pick(&self.words), random.below(3_000))),
            _ => {
                self.sentence(random, out);
                out.push('\n');
            }
        }
    }
}

fn list(words: &'static str) -> Vec<&'static str> {
    words.split_ascii_whitespace().collect()
}

fn camel(parts: [&str; 2]) -> String {
    parts.map(|part| part[..1].to_ascii_uppercase() + &part[1..]).concat()
}

fn write(out: &mut String, text: std::fmt::Arguments) {
    out.write_fmt(text).expect("writing to a string cannot fail");
}
