//! The page of a kind of finding, which its source begins with.

use super::Kind;

impl Kind {
    /// Its page as Markdown: the `//!` lines as they stand.
    pub fn page(&self) -> String {
        let lines = self.source.lines().map_while(|line| line.strip_prefix("//!"));
        lines.map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line))).collect()
    }

    /// The paragraphs of its page, each in one line.
    pub fn paragraphs(&self) -> Vec<String> {
        self.page().split("\n\n").map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    }

    /// One line: what is wrong.
    pub fn about(&self) -> String {
        let first = self.paragraphs().into_iter().next().unwrap_or_default();
        first.split_once(": ").map_or(first.clone(), |(_, about)| about.to_owned())
    }
}
