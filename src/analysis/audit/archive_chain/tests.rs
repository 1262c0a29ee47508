use super::super::tree::tests::tree;
use super::*;

/// Returns the digests of a transcript in letters: small ones are the user's, capital ones the model's, `>3` points to `t_3.jsonl` (a letter
/// before it distinguishes two compactions), `*` names no archive.
fn digests(text: &str) -> Vec<MessageDigest> {
    let message_digest = |(at, word): (usize, &str)| {
        let path = word.split_once('>').map(|(_, number)| format!("s/.transcripts/t_{number}.jsonl"));
        let archive_marker = if word == "*" { Some(ArchiveMarker::Unnamed) } else { path.map(ArchiveMarker::Archived) };
        let answer = word.starts_with(|c: char| c.is_ascii_uppercase());
        let digest = word.bytes().fold(7, |sum, byte| sum * 257 + u64::from(byte));
        MessageDigest { line: at as u32 + 1, digest, answer, calls: answer, bytes: 10, archive_marker }
    };
    text.split_whitespace().enumerate().map(message_digest).collect()
}

/// Describes the chains and the findings of some files.
fn describe(files: &[(&'static str, &'static str)]) -> String {
    let listed: Vec<_> = files.iter().map(|(name, _)| (*name, "")).collect();
    let test_tree = tree(&listed);
    let trees = [Index::new(&test_tree)];
    let read: Vec<(String, Vec<MessageDigest>)> =
        files.iter().filter(|(_, text)| *text != "unread").map(|(name, text)| (format!("runs/{name}"), digests(text))).collect();
    let links: Vec<Link> = read.iter().map(|(path, digests)| Link { path, tree: 0, digests }).collect();
    let pointers = pointers(&links, &trees);
    let chains: Vec<String> = groups(&links, &pointers)
        .iter()
        .map(|order| {
            let file = |file: &ChainFile| format!("{}+{}", number(&file.path).unwrap_or(0), file.messages - file.shared);
            chain(&links, order).files.iter().map(file).collect::<Vec<_>>().join(" ")
        })
        .collect();
    let findings = gaps(&links, &pointers).into_iter().chain(overwritten(&links, &pointers));
    let findings: Vec<String> =
        findings.map(|finding| format!("{} {}:{}", finding.id, last(&finding.path), finding.line.unwrap_or(0))).collect();
    format!("{} | {}", chains.join("; "), findings.join(", "))
}

#[test]
fn archive_chain_is_ordered() {
    for (files, expected) in [
        // Full copies by pointers, not by the order of the listing.
        (
            vec![
                ("s/.transcripts/t_1.jsonl", "a B c D"),
                ("s/.transcripts/t_2.jsonl", ">1 E f"),
                ("s/.transcripts/t_10.jsonl", ">2 G h"),
            ],
            "1+4 2+3 10+3 | ",
        ),
        // The kept head and tail are shared.
        (vec![("s/.transcripts/t_1.jsonl", "a B c D e F"), ("s/.transcripts/t_2.jsonl", "a B >1 e F g H")], "1+6 2+3 | "),
        // Two sessions in one folder.
        (vec![("s/.transcripts/t_1.jsonl", "a B"), ("s/.transcripts/t_2.jsonl", "x Y")], " | "),
        // Without paths, by number.
        (vec![("s/.transcripts/t_1.jsonl", "a B"), ("s/.transcripts/t_2.jsonl", "* Y")], "1+2 2+2 | "),
        (vec![("s/.transcripts/t_2.jsonl", "* Y")], " | gap t_2.jsonl:1"),
        // The first archive is missing; it is reported once.
        (vec![("s/.transcripts/t_2.jsonl", ">1 E"), ("s/.transcripts/t_3.jsonl", ">2 F >1")], "2+2 3+2 | gap t_2.jsonl:1"),
        // A file of the same name in another folder belongs to another session.
        (
            vec![
                ("r/.transcripts/t_1.jsonl", "a B"),
                ("r/.transcripts/t_2.jsonl", "p>1 E"),
                ("s/.transcripts/t_2.jsonl", "q>1 F"),
            ],
            "1+2 2+2 | gap t_2.jsonl:1",
        ),
        // The file exists, but is not a transcript.
        (vec![("s/.transcripts/t_1.jsonl", "unread"), ("s/.transcripts/t_2.jsonl", ">1 E")], " | "),
        // The next archive overwrote it: the summary points to its own file.
        (vec![("s/.transcripts/t_1.jsonl", ">1 E f")], " | overwrite t_1.jsonl:1"),
        // Two compactions name the same archive.
        (
            vec![
                ("s/.transcripts/t_1.jsonl", "a B"),
                ("s/.transcripts/t_2.jsonl", "p>1 E"),
                ("s/.transcripts/t_3.jsonl", "q>1 F"),
            ],
            "1+2 2+2 3+2 | overwrite t_3.jsonl:1",
        ),
        // The archive holds another history than the messages before the pointer.
        (vec![("s/.transcripts/t_1.jsonl", "x Y"), ("s/.transcripts/t_2.jsonl", "a B >1 C")], "1+2 2+4 | overwrite t_2.jsonl:3"),
    ] {
        assert_eq!(describe(&files), expected, "{files:?}");
    }
}

#[test]
fn archive_numbers_are_read_from_names() {
    assert_eq!(number("a/b2/transcript_1719400000.jsonl"), Some(1_719_400_000));
    assert_eq!(number("a/é7é.jsonl"), Some(7));
    assert_eq!(number("a1/transcript.jsonl"), None);
    assert_eq!(stem("transcript_12.jsonl"), ("transcript_", ".jsonl"));
}
