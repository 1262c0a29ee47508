//! What a reader of the page sees without a browser: a warning, words in place of ids, boxes that scroll, few bytes.

use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use recompact::metrics::metric;
use recompact::results::saved::Results;

use crate::report::html::page;
use crate::report::html_results::{results, swept, with_findings, with_request};
use crate::support::program::run;

/// Bytes of a page of no conversation: its style, its script, its tables of policies.
const WITHOUT_CONVERSATIONS: usize = 190_000;
/// Most bytes that a conversation adds: its plot, its table, its exact numbers.
const OF_CONVERSATION: usize = 8_000;

/// The page with its packed parts opened, except the numbers for the script.
pub fn opened(page: &str) -> String {
    let mut out = String::new();
    let mut rest = page;
    while let Some((before, script)) = rest.split_once("<script type=\"text/plain\" ") {
        let (attributes, after) = script.split_once('>').expect("an element");
        let (packed, after) = after.split_once("</script>").expect("its end");
        out += before;
        if !attributes.contains("id=\"data\"") {
            let bytes = STANDARD.decode(packed).expect("Base64");
            let mut text = String::new();
            GzDecoder::new(&*bytes).read_to_string(&mut text).expect("gzip of UTF-8");
            out += &opened(&text);
        }
        rest = after;
    }
    out + rest
}

/// Leaves out elements of these names with all that they hold.
fn without(page: &str, names: &[&str]) -> String {
    names.iter().fold(page.to_owned(), |page, name| {
        let open = format!("<{name}");
        let mut parts = page.split(&open);
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |out, part| out + part.split_once(&format!("</{name}>")).map_or("", |(_, after)| after))
    })
}

/// The texts of the page, each element's apart.
fn visible(page: &str) -> String {
    let page = without(&opened(page), &["style", "script", "pre"]);
    let texts = page.split('<').filter_map(|part| part.split_once('>')).map(|(_, text)| text);
    texts.collect::<Vec<_>>().join("\n")
}

#[test]
fn html_names_no_column_by_its_id() {
    let columns = metric::columns();
    let ids = || columns.iter().map(|column| &*column.id).filter(|id| id.contains(['.', '_']));
    for results in [with_request(with_findings(results(6, 3, 60))), swept()] {
        let text = visible(&page(&results));
        assert!(text.contains("facts in context") && text.contains("user instructions kept"));
        let shown: Vec<&str> = ids().filter(|id| text.contains(id)).collect();
        assert_eq!(shown, Vec::<&str>::new());
    }
    // The program's own sentences and conditions, too.
    let swept =
        run(["sweep", "claude-code", "--window", "80k", "-p", "lcc-s08", "--set", "micro.keep_recent_results=1,5", "-o", "html"]);
    let text = visible(&swept.printed());
    let shown: Vec<&str> = ids().filter(|id| text.contains(id)).collect();
    assert_eq!(shown, Vec::<&str>::new());
}

#[test]
fn html_warns_of_what_it_holds_before_anything_else() {
    let warning = |results: &Results| {
        let page = page(results);
        let (above, _) = page.split_once("<main").expect("a page");
        above.split_once("role=\"note\">").and_then(|(_, note)| Some(note.split_once('<')?.0.to_owned())).expect("a warning")
    };
    let none = Results { misses: Vec::new(), ..results(6, 3, 60) };
    assert_eq!(warning(&none), "Read before you share: this page holds text of the sessions: names of files and conversations.");
    assert_eq!(
        warning(&with_request(results(6, 3, 60))),
        "Read before you share: this page holds text of the sessions: names of files and conversations, the lines around 3 lost \
         facts, the text of 1 request."
    );
}

#[test]
fn html_says_what_the_lower_bound_is_a_bound_of() {
    let text = visible(&page(&results(6, 3, 60)));
    assert!(text.contains("lower bound of facts") && text.contains("sends nothing old, and keeps no fact"));
}

/// The plot compares costs with what the answer compares them with: the recorded runs, if they compacted.
#[test]
fn html_plots_costs_as_shares_of_what_the_answer_compares_with() {
    let page = run(["replay", "claude-code", "--window", "80k", "-o", "html"]).printed();
    let front = page.split("<section id=\"front\"").nth(1).and_then(|rest| rest.split("</section>").next()).expect("a plot");
    assert!(front.contains("cost, share of your recorded runs (less is better)") && !front.contains("share of no compaction"));
    let recorded = front.split("data-name=\"your recorded runs\" data-tip=\"").nth(1).expect("a point");
    assert!(recorded.starts_with("cost, share of your recorded runs\n1.000\n"), "{}", &recorded[..80]);
}

#[test]
fn html_scrolls_tables_in_boxes_and_wraps_its_links_on_a_phone() {
    let page = page(&with_findings(results(6, 3, 60)));
    let body = opened(&page);
    let tables: Vec<&str> = body.split("<table").collect();
    assert!(tables.len() > 10);
    for before in &tables[..tables.len() - 1] {
        // The packed rows of the findings are moved into the table that is shown.
        let is_in_box = before.rsplit("<div").next().is_some_and(|open| open.starts_with(" class=\"scroll"));
        assert!(
            is_in_box || before.ends_with("only in -o json.</p>") || before.ends_with("explains a kind.</p>"),
            "{}",
            &before[before.len() - 200..]
        );
    }
    assert!(page.contains(".scroll { overflow: auto;"));
    let phone = page.split("@media (max-width: 760px) {").nth(1).and_then(|rest| rest.split("\n}\n").next()).expect("a style");
    for rule in ["header { position: static; }", "flex-wrap: wrap;", ".tall { max-height: none; }"] {
        assert!(phone.contains(rule), "{rule}");
    }
}

#[test]
fn html_has_few_bytes_for_each_conversation() {
    let replayed = |folder: &str| {
        let options = [
            "-p",
            "claude-code,codex-cli,anthropic-clear,observation-mask,sliding-window,lcc-s08-late,recorded",
            "--misses",
            "0",
        ];
        let page = run([&["replay", folder, "--window", "80k", "-o", "html"], &options[..]].concat()).printed();
        let conversations = page.matches("<option value=").count();
        assert!(conversations > 0);
        (page.len(), conversations)
    };
    for folder in ["claude-code", "codex"] {
        let (bytes, conversations) = replayed(folder);
        let limit = WITHOUT_CONVERSATIONS + OF_CONVERSATION * conversations;
        assert!(bytes <= limit, "{folder}: {bytes} bytes for {conversations} conversations, more than {limit}");
    }
    // 57 conversations, as in 28 sessions with sub-agents, 9 policies, 100 calls: 500 KB.
    let bytes = page(&results(9, 57, 100)).len();
    assert!(bytes < 500_000, "{bytes} bytes");
}
