use proptest::prelude::*;

use super::*;

fn found(text: &str) -> Vec<&str> {
    rules(text).collect()
}

#[test]
fn a_rule_is_a_sentence_that_commands() {
    for rule in [
        "Never touch the vendor folder.",
        "NEVER push to main!",
        "You must run the tests first.",
        "Generated files must not be edited.",
        "Please do not rename anything.",
        "Don't add dependencies.",
        "don\u{2019}t add dependencies",
        "dont add dependencies",
        "I really don't want a new module here.",
        "we don't nest folders in this repository",
        "Make sure you don't break the parser.",
        "Fix it, but don't change the tests.",
        "Paint the fence red - don't ask the neighbours.",
        "Always use tabs.",
        "It should always return a list.",
        "Only change the parser.",
        "Use only what the standard library has.",
        "Sort by name, never by size.",
    ] {
        assert_eq!(found(rule), [rule]);
    }
}

#[test]
fn statements_and_questions_are_no_rules() {
    for text in [
        "Do you always use tabs?",
        "I don't know why it fails.",
        "We don't have a parser yet.",
        "Users don't need that at all.",
        "They just don't get it.",
        "It never worked before.",
        "I've always had this error.",
        "There must be a better way.",
        "I must admit it is nice.",
        "This is the only parser here.",
        "Actually, never mind.",
        "Don't worry about it.",
        "Never again.",
        "Do it, not that.",
        "The mustard is in commander.",
        "See only-once.rs and must_use.",
        "Set `colour = only red` in it.",
        "",
    ] {
        assert_eq!(found(text), [""; 0], "{text}");
    }
}

/// One rule for each way of the table to make one: a phrase, a phrase with a gap, a phrase at the beginning of a clause.
#[test]
fn a_rule_may_be_in_any_language_of_the_table() {
    for rule in [
        "Under no circumstances touch the vendor folder.",
        "vendor/ is off limits.",
        "Leave the vendor folder alone.",
        "Avoid editing vendor/.",
        "Ask me before you push.",
        "Don't push.",
        "From now on, commit after each step.",
        "Use tabs instead of spaces.",
        "Ändere niemals den Ordner vendor.",
        "Fass den Ordner vendor nicht an.",
        "Finger weg von vendor!",
        "Ne modifie jamais le dossier vendor.",
        "N’utilise pas de tabulations.",
        "Nunca toques la carpeta vendor.",
        "No toques vendor.",
        "Não mexa na pasta vendor.",
        "Non toccare la cartella vendor.",
        "Raak de map vendor niet aan.",
        "Rör inte mappen vendor.",
        "Nie zmieniaj katalogu vendor.",
        "Никогда не изменяй папку vendor.",
        "Не трогай vendor.",
        "Ніколи не змінюй теку vendor.",
        "vendor klasörüne asla dokunma.",
        "绝对不要修改 vendor 目录。",
        "vendor フォルダは変更しないでください。",
        "vendor 폴더는 절대 수정하지 마세요.",
        "vendor फ़ोल्डर को कभी मत बदलो।",
        "لا تلمس مجلد vendor أبدا.",
    ] {
        assert_eq!(found(rule), [rule]);
        assert_eq!(found(&format!("Mend it. {rule}")), [rule]);
    }
}

#[test]
fn reports_in_other_languages_are_no_rules() {
    for text in [
        "Das hat nie funktioniert.",
        "Ça n'a jamais marché.",
        "Не работает?",
        "¿No toques vendor?",
        "绝对不要修改吗？",
        "See leave-alone.rs and `avoid it`.",
        "It was off limits.",
        "| Never do this | or that |",
    ] {
        assert_eq!(found(text), [""; 0], "{text}");
    }
}

#[test]
fn an_order_needs_no_word_of_the_table() {
    let orders = |text| super::orders(text).collect::<Vec<_>>();
    for order in ["Keep tests out of vendor", "Ta bort den gamla parsern", "测试全部放在这里", "Mend the parser."] {
        assert_eq!(orders(order), [order]);
    }
    for other in ["go on", "Is it done?", "why does it fail", "It works now.", "Спасибо за помощь", "为什么失败了", "a();"]
    {
        assert_eq!(orders(other), [""; 0], "{other}");
    }
    let of_length = |chars: usize| format!("Mend the parser. {}", "x".repeat(chars - 17));
    assert_eq!((orders(&of_length(2_000)).len(), orders(&of_length(2_001)).len()), (1, 0));
}

#[test]
fn list_marks_are_not_part_of_a_rule() {
    let text = "Rules:\n- Never use `unwrap`.\n  * [ ] Always run the tests\n12. > Do not push it\n## DO NOT PANIC HERE\n3.5 must be kept";
    assert_eq!(
        found(text),
        ["Never use `unwrap`.", "Always run the tests", "Do not push it", "DO NOT PANIC HERE", "3.5 must be kept"]
    );
}

#[test]
fn rule_in_a_long_line_is_its_sentence() {
    let text = "The test in a.rs fails. Fix it; never touch b.rs, e.g. its head! Then mend it. You must only use std. Thanks";
    assert_eq!(found(text), ["never touch b.rs, e.g. its head!", "You must only use std."]);
}

#[test]
fn code_and_logs_are_no_rules() {
    let text = "```rust\n// never do this here\n```\n// must be kept in order\n#include <must not be here>\n    at only.one.Frame (never always)\n\
                2026-01-31 you must not read it\n[12:30:01] you must not read it\nif (x) { y(only, z[0]); } // !!\n~~~\n```\nnever in here too\n~~~\nYou must see this.";
    assert_eq!(found(text), ["You must see this."]);
}

#[test]
fn a_rule_has_at_most_500_characters() {
    let of_length = |chars: usize| format!("never {}", "x ".repeat((chars - 6) / 2)).trim().to_owned() + "é";
    assert_eq!((rules(&of_length(500)).count(), rules(&of_length(502)).count()), (1, 0));
}

#[test]
fn rules_files_are_recognised_by_their_announcement() {
    for text in [
        "As you work:\nContents of /w/CLAUDE.md (project instructions):\n\n# Rules",
        "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>",
        "<user_instructions>\n\nUse tabs.",
        "--- Context from: sub/GEMINI.md ---",
        "Contents of /w/.cursorrules:",
    ] {
        assert!(is_rules_file(text), "{text}");
    }
    for text in ["Can you add this to CLAUDE.md?", "Contents of /w/notes.txt:", "see # AGENTS.md instructions for more", ""] {
        assert!(!is_rules_file(text), "{text}");
    }
}

proptest! {
    #[test]
    fn a_rule_is_a_part_of_a_line(text in "([-a-z .;!?`\n*>1#é’]|never |do not |don’t |only |```\n){0,60}") {
        for rule in rules(&text) {
            prop_assert!(text.lines().any(|line| line.contains(rule)));
            prop_assert_eq!(rule.trim(), rule);
            prop_assert_eq!(rules(rule).collect::<Vec<_>>(), [rule], "a rule alone is a rule");
        }
    }
}
