//! Every shape of input takes time in proportion to its size: a generator of shapes, and a count of steps for each.
//!
//! Steps are basic blocks, counted by valgrind where seconds grow too fast; they do not depend on what else the machine does. A doubling
//! may cost at most 2.3 times as much as the one before. What grows with the square costs four times as much.

mod claude_code;
mod codex;
mod folders;
mod hostile;
mod instructions;
mod messages;
mod openai_chat;
mod steps;
mod texts;

use std::path::Path;

use serde_json::Value;

/// A kind of input that can have any size.
#[derive(Clone, Copy)]
pub struct Shape {
    pub name: &'static str,
    /// The size of which all that are measured are multiples.
    pub size: usize,
    /// The files of a size, as names and contents.
    pub files: fn(usize) -> Vec<(String, String)>,
}

/// Every shape.
pub fn shapes() -> Vec<&'static Shape> {
    let of_formats = [messages::SHAPES, claude_code::SHAPES, codex::SHAPES, openai_chat::SHAPES];
    let groups = of_formats.into_iter().chain([texts::SHAPES, hostile::SHAPES, folders::SHAPES]);
    groups.flatten().collect()
}

impl Shape {
    /// Writes the files of a size into a new folder.
    pub fn write(&self, size: usize, folder: &Path) {
        for (name, text) in (self.files)(size) {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().expect("a path in the folder")).expect("a folder to write to");
            std::fs::write(path, text).expect("a folder to write to");
        }
    }
}

/// One transcript, a JSON value on each line.
fn one_file(lines: impl IntoIterator<Item = Value>) -> Vec<(String, String)> {
    vec![("session.jsonl".to_owned(), jsonl(lines))]
}

fn jsonl(lines: impl IntoIterator<Item = Value>) -> String {
    lines.into_iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn shapes_have_names_of_their_own_and_grow() {
    let shapes = shapes();
    let names: std::collections::BTreeSet<&str> = shapes.iter().map(|shape| shape.name).collect();
    assert_eq!(names.len(), shapes.len());
    assert!(shapes.len() >= 60, "{}", shapes.len());
    for shape in shapes {
        let bytes = |size: usize| (shape.files)(size).iter().map(|(_, text)| text.len()).sum::<usize>();
        assert!(bytes(200) > bytes(100), "{}", shape.name);
    }
}
