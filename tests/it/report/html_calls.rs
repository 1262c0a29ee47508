//! Checks in a browser how the page leads from a number to a call: from the plot, from a lost fact, from a finding.

use crate::report::html::{CHOSEN, is_quiet, shown};
use crate::report::html_results::{results, with_findings, with_request};
use crate::support::program::{run, run_in};

const TITLE: &str = "document.querySelector('#call').hidden ? '' : document.querySelector('#call-title').textContent";
const ROWS: &str = "document.querySelector('#call-rows').innerText";
const COMMAND: &str = "document.querySelector('#call-command').textContent";
/// Waits until a call is shown.
const SHOWN: &str =
    "new Promise(done => { const wait = () => document.querySelector('#call').hidden ? setTimeout(wait, 5) : done(); wait(); })";

#[test]
#[ignore = "needs chromium"]
fn html_shows_one_call_of_the_plot() {
    let (mut browser, _folder, path) = shown(&results(6, 3, 200), 1280, "light");
    let browser = &mut browser;
    assert_eq!(browser.text(TITLE), "");
    // By the mouse: the middle of 200 calls.
    browser.point("#conversation .over-time", true);
    browser.eval(SHOWN);
    let shown = browser.text(TITLE);
    assert!(["Call 100 of 200", "Call 101 of 200"].contains(&shown.as_str()), "{shown}");
    assert_eq!(browser.number("document.querySelectorAll('#call-rows tr').length"), 6.0, "one for each policy");
    assert!(browser.text(COMMAND).starts_with("recompact show runs/session-000.jsonl -p policy.toml --call 10"));
    // From edit to edit of the chosen policy: 81, 121. Its exact numbers are those of the results.
    browser.point("#call [data-edit='1']", true);
    browser.eval(SHOWN);
    assert_eq!(browser.text(TITLE), "Call 121 of 200");
    let rows = browser.text(ROWS);
    assert!(rows.contains("micro: −39,000"), "{rows}");
    browser.point("#call [data-step='-1']", true);
    browser.eval(SHOWN);
    assert_eq!(browser.text(TITLE), "Call 120 of 200");
    assert!(!browser.text(ROWS).contains("micro"));
    // These policies are no presets, so the command takes a file with the text on the page.
    assert_eq!(browser.number("document.querySelector('#call-file').offsetWidth > 0 ? 1 : 0"), 1.0);
    browser.point("#call-close", true);
    assert_eq!(browser.text(TITLE), "");
    // By the keyboard.
    browser.eval("document.querySelector('#conversation .over-time').focus(); delete document.querySelector('#conversation .plot').dataset.at");
    browser.press("ArrowRight");
    browser.press("Enter");
    browser.eval(SHOWN);
    assert_eq!(browser.text(TITLE), "Call 1 of 200");
    is_quiet(browser, &path);
}

#[test]
#[ignore = "needs chromium"]
fn html_leads_from_lost_facts_and_findings_to_calls() {
    let (mut browser, _folder, path) = shown(&with_request(with_findings(results(6, 3, 200))), 1280, "dark");
    let browser = &mut browser;
    // From another conversation to the call that missed the fact, under the policy that lost it.
    browser.eval("document.querySelector('#after').click()");
    browser.eval(CHOSEN);
    browser.point("#misses .go", true);
    browser.eval(SHOWN);
    assert_eq!(
        (browser.text(TITLE), browser.text("document.querySelector('#choose').value")),
        ("Call 17 of 200".to_owned(), "0".to_owned())
    );
    assert_eq!(browser.text("document.querySelector('#call-policy').selectedOptions[0].textContent"), "policy-1");
    assert_eq!(browser.number("document.querySelectorAll('.chosen-call').length"), 1.0);
    // The page holds this request: first what is not as it was recorded, then all of it.
    let request =
        "document.querySelector('#call-request').offsetWidth ? document.querySelector('#call-request .scroll').innerText : ''";
    browser.eval(&format!("new Promise(done => {{ const wait = () => ({request}) ? done() : setTimeout(wait, 5); wait(); }})"));
    let text = browser.text(request);
    assert!(text.contains("rewritten by micro, 40 tokens recorded") && text.contains("error in src/pool.rs:12"), "{text}");
    assert!(!text.contains("Fix the pool"), "{text}");
    // The page may still be scrolling to the call, so the mouse would miss.
    browser.eval("document.querySelector('#whole-request').click()");
    assert!(browser.text(request).contains("Fix the pool"));
    browser.eval("document.querySelector('#call [data-step=\"1\"]').click()");
    browser.eval("new Promise(done => { const wait = () => document.querySelector('#call-request').hidden ? done() : setTimeout(wait, 5); wait(); })");

    // Findings: the first fifty of the recommended policy, then of the others; filters leave the wanted ones.
    browser.eval("document.querySelector('#findings').scrollIntoView({ behavior: 'instant' })");
    let found = "document.querySelector('#found').textContent";
    browser.eval(&format!("new Promise(done => {{ const wait = () => {found} ? done() : setTimeout(wait, 5); wait(); }})"));
    let rows = "document.querySelectorAll('#found-rows tbody tr').length";
    assert_eq!((browser.text(found), browser.number(rows)), ("50 of 60 shown".to_owned(), 50.0));
    assert_eq!(browser.text("document.querySelector('#found-rows tbody tr').innerText.split('\\t')[2]"), "policy-1");
    browser.point("#more-found", true);
    let waited = |count: usize| {
        format!("new Promise(done => {{ const wait = () => {rows} === {count} ? done() : setTimeout(wait, 5); wait(); }})")
    };
    browser.eval(&waited(60));
    let set = |id: &str, value: &str| {
        format!(
            "{{ const of = document.querySelector('#filter-{id}'); of.value = '{value}'; of.dispatchEvent(new Event('input', {{ bubbles: true }})); }}"
        )
    };
    browser.eval(&set("kind", "pairs"));
    browser.eval(&waited(30));
    browser.eval(&set("level", "warning"));
    browser.eval(&waited(0));
    browser.eval(&set("level", ""));
    browser.eval(&set("text", "NUMBER 29"));
    browser.eval(&waited(2));
    browser.point("#found-rows .go", true);
    browser.eval("new Promise(done => { const wait = () => document.querySelector('#call-title').textContent.startsWith('Call 30') ? done() : setTimeout(wait, 5); wait(); })");
    assert_eq!(browser.text("document.querySelector('#choose').value"), "1");
    is_quiet(browser, &path);
}

/// The requests need the transcripts, so a page of saved results has none and says so.
#[test]
fn html_holds_requests_of_misses_if_the_transcripts_are_there() {
    let page = |options: &[&str]| run([&["replay", "messages", "-p", "lcc-s08"], options].concat()).printed();
    let held = page(&["-o", "html"]);
    assert_eq!(held.matches(r#"<script type="text/plain" class="request""#).count(), 2);
    assert!(held.contains("this page holds 2, in which lcc-s08 missed facts."));
    let json = page(&["-o", "json"]);
    assert!(!json.contains("\"requests\":"), "requests are not saved");
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("results.json"), json).expect("a folder to write to");
    let again = run_in(folder.path(), ["report", "results.json", "-o", "html"], b"").printed();
    for none in [again, page(&["-o", "html", "--misses", "0"])] {
        assert_eq!(none.matches(r#"class="request""#).count(), 0);
        assert!(none.contains("The requests are not on this page."));
    }
}
