//! Programs to begin with, one for each language: each is a policy that runs as it is.

use toml::Value;

/// A program to begin with.
#[derive(Debug)]
pub struct Template {
    /// The language, as `recompact policy new program --lang` takes it.
    pub language: &'static str,
    /// The program that runs it.
    pub interpreter: &'static str,
    /// The extension of its file.
    pub extension: &'static str,
    /// The source.
    pub source: &'static str,
}

/// All of them. They do the same: of all results of tools, only the newest three keep their text.
pub const TEMPLATES: &[Template] = &[
    Template { language: "python", interpreter: "python3", extension: "py", source: include_str!("template/policy.py") },
    Template { language: "node", interpreter: "node", extension: "mjs", source: include_str!("template/policy.mjs") },
    Template { language: "sh", interpreter: "sh", extension: "sh", source: include_str!("template/policy.sh") },
];

impl Template {
    /// Returns the policy file that names the program at this path.
    pub fn policy(&self, name: &str, path: &str) -> String {
        let text = |text: &str| Value::from(text).to_string();
        let command = format!("{} {}", self.interpreter, word(path));
        format!(
            "# A policy that is a program of yours. Files start programs only with --allow-programs.\nname = {}\nabout = \
             \"Keeps the text of the newest three results of tools.\"\n\n[[layer]]\nid = \"program\"\ndo = \"program\"\n\n# Started \
             without a shell, in the folder in which recompact runs.\ncommand = {}\n\n# Form of the messages that the program reads: \
             openai or anthropic. It names the same in its first answer.\nshape = \"openai\"\n\n# Seconds for each answer.\ntimeout = \
             30\n",
            text(name),
            text(&command)
        )
    }
}

/// Returns a path as one word of a command: in quotes if it has spaces or quotes.
fn word(path: &str) -> String {
    if !path.contains(|c: char| c.is_whitespace() || matches!(c, '"' | '\'')) {
        return path.to_owned();
    }
    format!("\"{}\"", path.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::client::split_words;

    #[test]
    fn every_path_is_one_word_of_the_command() {
        for path in ["a.py", "my policy.py", "it's \"mine\" \\.py", "sub\\a.py"] {
            let policy: toml::Table = toml::from_str(&TEMPLATES[0].policy("mine", path)).expect("TOML");
            let command = policy["layer"][0]["command"].as_str().expect("a command");
            assert_eq!(split_words(command).expect("words"), ["python3", path]);
        }
    }
}
