//! Renders cases as JUnit XML: one test suite per group, one test per case. The output is valid for both Ant's schema
//! and Jenkins'.
//!
//! Ant's schema requires a time, a host and a date. To give the same output in every run, they are fixed: `0`,
//! `localhost` and the first second of 1970. (The crate `quick-junit` cannot be used: it writes attributes that Ant's schema
//! forbids.) Characters that XML cannot hold are escaped as for terminals: `\u{b}`.

use std::io::{self, Write};

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use crate::findings::{Case, Finding, Level};
use crate::util::text::plural;

use super::{escape, line};

/// Placeholder for names that the schema requires and that are empty.
const NAMELESS: &str = "unnamed";

/// Writes cases as JUnit XML.
pub fn render(cases: &[Case]) -> Vec<u8> {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 1);
    write(&mut writer, cases).expect("writing to memory does not fail");
    let mut bytes = writer.into_inner();
    bytes.push(b'\n');
    bytes
}

fn write(writer: &mut Writer<Vec<u8>>, cases: &[Case]) -> io::Result<()> {
    let mut groups: Vec<(&str, Vec<&Case>)> = Vec::new();
    for case in cases {
        match groups.iter_mut().rfind(|(group, _)| *group == case.group) {
            Some((_, members)) => members.push(case),
            None => groups.push((&case.group, vec![case])),
        }
    }
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    writer.create_element("testsuites").write_inner_content(|writer| {
        groups.iter().enumerate().try_for_each(|(id, (group, cases))| suite(writer, id, group, cases))
    })?;
    Ok(())
}

fn suite<W: Write>(writer: &mut Writer<W>, id: usize, group: &str, cases: &[&Case]) -> io::Result<()> {
    let failures = cases.iter().filter(|case| case.findings.iter().any(fails)).count();
    let suite = [
        ("name", name(group)),
        ("package", "recompact".to_owned()),
        ("id", id.to_string()),
        ("tests", cases.len().to_string()),
        ("failures", failures.to_string()),
        ("errors", "0".to_owned()),
        ("time", "0".to_owned()),
        ("timestamp", "1970-01-01T00:00:00".to_owned()),
        ("hostname", "localhost".to_owned()),
    ];
    let suite = suite.iter().map(|(name, value)| (*name, value.as_str()));
    writer.create_element("testsuite").with_attributes(suite).write_inner_content(|writer| {
        // Jenkins' older schema requires at least one property.
        writer.create_element("properties").write_inner_content(|writer| {
            writer.create_element("property").with_attributes([("name", "tool"), ("value", "recompact")]).write_empty().map(drop)
        })?;
        cases.iter().try_for_each(|case| test(writer, case))?;
        let notes =
            cases.iter().flat_map(|case| case.findings.iter().filter(|finding| !fails(finding)).map(|note| (*case, note)));
        let notes = notes.map(|(case, note)| format!("{}: {}\n", escape::terminal(&case.name), escape::terminal(&line(note))));
        text(writer, "system-out", &notes.collect::<String>())?;
        writer.create_element("system-err").write_empty()?;
        Ok(())
    })?;
    Ok(())
}

/// Writes one `failure` for all findings of a case: the schemas allow only one, and most readers show only the first.
fn test<W: Write>(writer: &mut Writer<W>, case: &Case) -> io::Result<()> {
    let (name, group) = (name(&case.name), name(&case.group));
    let test = writer.create_element("testcase");
    let test = test.with_attributes([("name", name.as_str()), ("classname", group.as_str()), ("time", "0")]);
    let mut wrong: Vec<&Finding> = case.findings.iter().filter(|finding| fails(finding)).collect();
    wrong.sort_by_key(|finding| finding.level);
    let Some(worst) = wrong.first() else { return test.write_empty().map(drop) };
    let more = match wrong.len() - 1 {
        0 => String::new(),
        more => format!(" (and {} more)", plural(more, "finding")),
    };
    let message = format!("{}{more}", escape::terminal(&worst.message));
    let lines = wrong.iter().map(|finding| format!("{}: {}\n", finding.level.name(), escape::terminal(&line(finding))));
    let lines = lines.collect::<String>();
    test.write_inner_content(|writer| {
        let failure = writer.create_element("failure");
        let failure = failure.with_attributes([("type", worst.level.name()), ("message", message.as_str())]);
        failure.write_text_content(BytesText::new(&lines)).map(drop)
    })?;
    Ok(())
}

fn text<W: Write>(writer: &mut Writer<W>, name: &str, text: &str) -> io::Result<()> {
    let element = writer.create_element(name);
    if text.is_empty() { element.write_empty() } else { element.write_text_content(BytesText::new(text)) }.map(drop)
}

/// Whether a finding fails its test. Notes do not: they are written as output.
fn fails(finding: &Finding) -> bool {
    finding.level != Level::Note
}

fn name(text: &str) -> String {
    if text.trim().is_empty() { NAMELESS.to_owned() } else { escape::terminal(text).into_owned() }
}
