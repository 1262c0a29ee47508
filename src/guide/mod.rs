//! The guide: one page a question. `recompact guide PAGE` prints a page; here each page is a module.
//!
//! A page is a Markdown file beside this one. The lists that follow from the code (presets, layers, findings and others) lie
//! between two comments in these files. A test compares them with the registries, and `RECOMPACT_BLESS=1 cargo test guide` writes
//! them anew. What `recompact catalog` prints is not repeated: such a list has the names.

pub mod adapters;

/// A page of the guide.
pub struct Page {
    /// The name that `recompact guide` takes: the name of the file.
    pub name: &'static str,
    /// The part of the guide that the page is in.
    pub part: &'static str,
    /// The file: Markdown, with the comments around its generated blocks.
    pub source: &'static str,
}

macro_rules! pages {
    ($($part:literal: $($name:ident),*;)*) => {
        $($(
            // In Markdown the first definition of a link counts: here a page's links lead to modules, on GitHub to files.
            #[doc = include_str!("links.txt")]
            #[doc = include_str!(concat!(stringify!($name), ".md"))]
            pub mod $name {}
        )*)*

        /// Every page, in reading order.
        pub const PAGES: &[Page] = &[
            $($(
                Page {
                    name: stringify!($name),
                    part: $part,
                    source: include_str!(concat!(stringify!($name), ".md")),
                },
            )*)*
        ];
    };
}

pages![
    "The way through": start, screen, retention, cost, policies, sweep;
    "Answers": faq, glossary, bias;
    "Tasks": verdict, export, ci, audit, findings, formats, record, programs, python, clusters, summarizers, questions;
    "Reference": measures, results, statistics, speed, promises;
    "Appendix": validation;
];

/// The page with this name.
pub fn page(name: &str) -> Option<&'static Page> {
    PAGES.iter().find(|page| page.name == name)
}

impl Page {
    /// The question that the page answers: its first paragraph, in one line.
    pub fn about(&self) -> String {
        let paragraph = self.source.split("\n\n").nth(1).unwrap_or_default();
        paragraph.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The page as it is printed: without the comments around generated blocks and the links of Markdown.
    pub fn text(&self) -> String {
        let lines: String = self.source.lines().filter(|line| !is_unseen(line)).flat_map(|line| [line, "\n"]).collect();
        lines.trim_end().to_owned() + "\n"
    }
}

/// Pages with a text, and for each its lines that have it, whatever the case.
pub fn search(text: &str) -> Vec<(&'static Page, Vec<String>)> {
    let wanted = text.to_lowercase();
    let lines =
        |page: &Page| page.text().lines().filter(|line| line.to_lowercase().contains(&wanted)).map(str::to_owned).collect();
    PAGES.iter().map(|page| (page, lines(page))).filter(|(_, lines): &(_, Vec<String>)| !lines.is_empty()).collect()
}

fn is_unseen(line: &str) -> bool {
    let is_link = line.starts_with('[') && line.contains("]: ") && line.ends_with(".md");
    is_link || (line.starts_with("<!--") && line.ends_with("-->"))
}
