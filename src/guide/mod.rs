//! The guide: one page a question. `recompact guide PAGE` prints a page; here each page is a module.
//!
//! A page is a Markdown file beside this one. The lists that follow from the code (columns, presets, layers, findings and
//! others) lie between two comments in these files. A test compares them with the registries, and `RECOMPACT_BLESS=1 cargo test
//! guide` writes them anew.

pub mod adapters;

/// A page of the guide.
pub struct Page {
    /// The name that `recompact guide` takes: the name of the file.
    pub name: &'static str,
    /// The file: Markdown, with the comments around its generated blocks.
    pub source: &'static str,
}

macro_rules! pages {
    ($($name:ident),* $(,)?) => {
        $(
            #[doc = include_str!(concat!(stringify!($name), ".md"))]
            pub mod $name {}
        )*

        /// Every page, in reading order.
        pub const PAGES: &[Page] = &[
            $(Page { name: stringify!($name), source: include_str!(concat!(stringify!($name), ".md")) }),*
        ];
    };
}

pages![
    start,
    formats,
    verdict,
    results,
    questions,
    policies,
    layers,
    retention,
    cost,
    tokens,
    statistics,
    sweep,
    export,
    summarizers,
    programs,
    python,
    findings,
    audit,
    ci,
    promises,
    validation,
    columns,
    extending,
    development,
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

    /// The page as it is printed: without the comments around generated blocks.
    pub fn text(&self) -> String {
        self.source.lines().filter(|line| !is_comment(line)).flat_map(|line| [line, "\n"]).collect()
    }
}

fn is_comment(line: &str) -> bool {
    line.starts_with("<!--") && line.ends_with("-->")
}
