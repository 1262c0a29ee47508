//! Settings that have new names. Files, `--set` and saved results may use the old ones; everything that is written has the new ones.

use super::LayerSpec;

/// A setting with a new name. A layer that has no setting `new` is not concerned.
pub struct Renamed {
    pub old: &'static str,
    pub new: &'static str,
}

/// All renamed settings. The old names do not say what is counted, or say it wrong.
pub const RENAMED: &[Renamed] = &[
    Renamed { old: "keep_recent", new: "keep_recent_results" },
    Renamed { old: "keep_recent", new: "keep_recent_messages" },
    Renamed { old: "turns", new: "keep_recent_turns" },
    Renamed { old: "protect_turn", new: "protect_turns" },
    Renamed { old: "max_chars", new: "max_length" },
    Renamed { old: "span_share", new: "span.share" },
    Renamed { old: "span_unit", new: "span.unit" },
    Renamed { old: "min_span", new: "span.min" },
    Renamed { old: "keep_users", new: "typed.keep" },
    Renamed { old: "users_marker", new: "typed.marker" },
    Renamed { old: "first_context", new: "typed.first_context" },
    Renamed { old: "input_whole", new: "input.whole" },
    Renamed { old: "input_chars", new: "input.chars" },
    Renamed { old: "input_side", new: "input.side" },
    Renamed { old: "input_head_chars", new: "input.head_chars" },
    Renamed { old: "input_form", new: "input.form" },
    Renamed { old: "input_tokens", new: "input.tokens" },
    Renamed { old: "input_start", new: "input.start" },
    Renamed { old: "unread", new: "input.unread" },
    Renamed { old: "rides_prefix", new: "input.rides_prefix" },
    Renamed { old: "same_tools", new: "input.same_tools" },
    Renamed { old: "template", new: "messages.template" },
    Renamed { old: "role", new: "messages.role" },
    Renamed { old: "question", new: "messages.question" },
    Renamed { old: "ack", new: "messages.ack" },
    Renamed { old: "go_on", new: "messages.go_on" },
    Renamed { old: "max_retries", new: "retry.max" },
    Renamed { old: "shrink", new: "retry.shrink" },
    Renamed { old: "breaker", new: "retry.breaker" },
    Renamed { old: "save_to", new: "save.to" },
    Renamed { old: "preview_chars", new: "save.preview_chars" },
    Renamed { old: "saved_line", new: "save.line" },
    Renamed { old: "placeholder_saved", new: "save.placeholder" },
];

impl LayerSpec {
    /// Returns its settings that were renamed.
    pub fn renamed(&self) -> impl Iterator<Item = &'static Renamed> {
        let own = self.settings();
        RENAMED.iter().filter(move |renamed| own.iter().any(|name| name == renamed.new))
    }

    /// Returns the present name of a setting. Names that are not old come back as they are.
    pub fn present_name<'a>(&self, name: &'a str) -> &'a str {
        self.renamed().find(|renamed| renamed.old == name).map_or(name, |renamed| renamed.new)
    }
}

/// Returns the old names of a setting.
pub fn old_names(setting: &str) -> impl Iterator<Item = &'static str> {
    RENAMED.iter().filter(move |renamed| renamed.new == setting).map(|renamed| renamed.old)
}

/// Returns `KEY = VALUE` lines with the first names of all settings, so that their hash is the same before and after a renaming.
/// Values stay as they are.
pub fn with_first_names(lines: &str) -> String {
    let first_names = |line: &str| match line.split_once('=') {
        None => line.to_owned(),
        Some((key, value)) => {
            let key = RENAMED.iter().fold(key.to_owned(), |key, renamed| key.replace(renamed.new, renamed.old));
            format!("{key}={value}")
        }
    };
    lines.split('\n').map(first_names).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::layer::LAYERS;

    #[test]
    fn every_new_name_is_a_setting_and_no_old_one_is() {
        let specs: Vec<LayerSpec> = LAYERS.iter().map(|kind| (kind.default)()).collect();
        for renamed in RENAMED {
            let concerned: Vec<_> = specs.iter().filter(|spec| spec.present_name(renamed.old) == renamed.new).collect();
            assert!(!concerned.is_empty(), "{}", renamed.new);
            assert!(concerned.iter().all(|spec| !spec.settings().iter().any(|name| name == renamed.old)), "{}", renamed.old);
        }
    }

    #[test]
    fn first_names_replace_keys_and_not_values() {
        let new = "name = \"keep_recent_results=3\"\nkeep_recent_results = 3\n[sweep]\nmicro.keep_recent_messages = \"1,2\"\n";
        let old = "name = \"keep_recent_results=3\"\nkeep_recent = 3\n[sweep]\nmicro.keep_recent = \"1,2\"\n";
        assert_eq!(with_first_names(new), old);
        assert_eq!(with_first_names(old), old);
        assert_eq!(with_first_names("recent.keep_recent_turns=3"), "recent.turns=3");
    }
}
