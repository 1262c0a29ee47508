//! What a kind of layer does, and what it says about itself. Checks, findings and metrics ask for these traits, never for a kind,
//! so that a new kind is one file.

use serde_json::Value;

use super::dedupe::DuplicateKey;
use super::{LayerInput, Proposal, ResultFilter};
use crate::engine::context::{Context, Edit};
use crate::engine::size::{Limits, Size};
use crate::tokens::meter::{Meter, SizeUnit};

/// What a kind of layer does. The settings of a kind implement it.
pub trait Action: Default {
    /// What the layer remembers between its runs; `()` if it decides by the context alone.
    type State: Default;

    /// Returns what others need to know about the layer.
    fn traits(&self) -> LayerTraits<'_>;

    /// Returns what the layer would do now.
    fn propose(&self, input: &LayerInput, state: &mut Self::State) -> Proposal;

    /// Takes in the context after the edits of its proposal were applied to it.
    fn settle(&self, _context: &Context, _state: &mut Self::State) {}

    /// Returns whether the copy of the history that it edited for the request before, and that new messages extend, is still what it
    /// would make of the whole history.
    fn still_holds(&self, _context: &Context, _state: &Self::State) -> bool {
        true
    }

    /// Takes in that the thinking of earlier turns left the copy of the history that it edited for the request before. Returns the edits
    /// that bring back what it would not have removed without that thinking; `None` if the copy must be made anew.
    fn thinking_left(&self, _left: &ThinkingLeft, _state: &mut Self::State) -> Option<Vec<Edit>> {
        None
    }

    /// Checks that its settings make sense together.
    ///
    /// # Errors
    ///
    /// Fails with one of the settings, and the reason.
    fn check(&self) -> Result<(), WrongSetting> {
        Ok(())
    }

    /// Limits the JSON Schema of its settings to what [`Self::check`] accepts.
    fn restrict_schema(_schema: &mut Value) {}
}

/// The copy that a layer edited for the request before, when the thinking of earlier turns has left it.
pub struct ThinkingLeft<'a> {
    /// The copy without it.
    pub context: &'a Context<'a>,
    /// Positions of the messages of the copy that had nothing else and are gone, newest first. From the history no message is gone.
    pub gone: &'a [usize],
    /// The token estimator of the policy, or else the report's counter.
    pub meter: Meter,
    pub limits: Limits,
}

/// A setting that does not fit the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongSetting {
    /// Its name, as in TOML. An error message names its line.
    pub setting: &'static str,
    pub why: String,
}

impl WrongSetting {
    /// A wrong setting, and the reason.
    pub fn new(setting: &'static str, why: impl Into<String>) -> Self {
        Self { setting, why: why.into() }
    }

    /// Refuses a second count of the newest messages that stay. Each setting says whether it is given.
    ///
    /// # Errors
    ///
    /// Fails with the second that is given.
    pub fn unless_one_says_what_stays(settings: impl IntoIterator<Item = (&'static str, bool)>) -> Result<(), Self> {
        Self::unless_one_is_given("both say what stays", settings)
    }

    /// Refuses a second setting of those that exclude each other; `both` says what they do. Each setting says whether it is given.
    ///
    /// # Errors
    ///
    /// Fails with the second that is given.
    pub fn unless_one_is_given(both: &str, settings: impl IntoIterator<Item = (&'static str, bool)>) -> Result<(), Self> {
        let mut given = settings.into_iter().filter_map(|(name, is_given)| is_given.then_some(name));
        match (given.next(), given.next()) {
            (Some(one), Some(other)) => Err(Self::new(other, format!("`{one}` and `{other}` {both}: give one of them"))),
            _ => Ok(()),
        }
    }
}

/// What others need to know about a layer. A kind names what sets it apart from [`LayerTraits::PLAIN`].
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct LayerTraits<'a> {
    pub timing: Timing,
    /// What remains of a block that it rewrites; `None` if it rewrites no block.
    pub remains: Option<Remains>,
    /// It only rewrites blocks where they are and writes nothing elsewhere, so a provider can do it inside its prompt cache.
    pub rewrites_in_place: bool,
    /// Its output can contain parts of the removed blocks. If not, each block is kept as a whole or not at all.
    pub keeps_parts: bool,
    pub stability: Stability,
    /// Number of messages above which it removes some, if its rules allow it.
    pub max_messages: Option<usize>,
    /// The texts that it writes are placeholders and markers, which should be the same in every request.
    pub writes_markers: bool,
    /// It puts back what another layer removed.
    pub restores: bool,
    /// It repeats the compactions of the record.
    pub repeats_record: bool,
    /// The rules that select tool results, if it has them.
    pub filter: Option<&'a ResultFilter>,
    /// Whether it waits until enough can go at once; `None` if it has no setting for that.
    pub waits: Option<bool>,
    /// Size by the policy's meter that it brings the context down to, if it does.
    pub down_to: Option<&'a Size>,
    /// How it asks for summaries, if it does.
    pub summarizer: Option<SummarizerUse>,
    /// Path of the archive that it writes before another layer acts, with the placeholder `{n}`.
    pub archive_path: Option<&'a str>,
    /// Command line of the program that it starts.
    pub program: Option<&'a str>,
}

/// Whether a layer decides the same again about old messages when new ones are appended, so that the copy that it edited for one
/// request can be extended to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stability {
    /// Not always.
    Unstable,
    /// If no other layer edits the copy, and [`Action::still_holds`] does not deny it.
    Alone,
    /// Always.
    Stable,
}

/// The moments at which a kind of layer can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Timing {
    /// All but those of the others.
    Requests,
    /// Only just before another layer acts.
    BeforeLayers,
    /// Only just after another layer acted.
    AfterLayers,
    /// Only before every request, and as the only layer of its policy.
    Alone,
}

/// What remains of a block that a layer rewrites.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remains {
    /// A placeholder.
    Nothing,
    /// A part of its text.
    Part,
    /// The path of a file with all of its text.
    File,
    /// A pointer to another block of the context: its copy by this key.
    Copy(DuplicateKey),
}

/// How a layer asks for summaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SummarizerUse {
    /// Unit in which the length of the summarizer's input is limited.
    pub input_unit: SizeUnit,
    /// How often the layer may run for one request as an overflow layer.
    pub max_retries: usize,
    /// The call continues the conversation, and so reads its prefix in the provider's cache.
    pub reuses_prefix_cache: bool,
    /// The call continues the conversation, but its tools are others, and so it reads nothing of the cache.
    pub changes_tools: bool,
}

impl LayerTraits<'_> {
    /// A layer that can run at every request, rewrites no block, keeps each block as a whole or not at all, and uses nothing but the
    /// context.
    pub const PLAIN: LayerTraits<'static> = LayerTraits {
        timing: Timing::Requests,
        remains: None,
        rewrites_in_place: false,
        keeps_parts: false,
        stability: Stability::Unstable,
        max_messages: None,
        writes_markers: false,
        restores: false,
        repeats_record: false,
        filter: None,
        waits: None,
        down_to: None,
        summarizer: None,
        archive_path: None,
        program: None,
    };

    /// Returns whether it removes the whole content of a block that it rewrites, and leaves no file with it.
    pub fn empties_blocks(&self) -> bool {
        matches!(self.remains, Some(Remains::Nothing | Remains::Copy(_)))
    }

    /// Returns whether it replaces results with pointers to copies of them.
    pub fn points_to_copies(&self) -> bool {
        matches!(self.remains, Some(Remains::Copy(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::LAYERS;
    use super::*;

    /// What sets each kind apart from a plain layer, with its default settings. Read all rows when a trait is new: a kind that
    /// forgets the trait does not have it in its row.
    const APART: [(&str, &str); 12] = [
        ("clear", "remains=Some(Nothing) rewrites_in_place stability=Stable writes_markers filter waits=Some(false)"),
        ("persist", "remains=Some(File) keeps_parts writes_markers filter"),
        ("truncate", "remains=Some(Part) rewrites_in_place keeps_parts stability=Stable writes_markers filter"),
        ("dedupe", "remains=Some(Copy(Text)) rewrites_in_place writes_markers filter"),
        ("collapse", "keeps_parts stability=Alone"),
        ("drop", "stability=Stable max_messages=Some(50) writes_markers"),
        ("keep", "stability=Stable writes_markers"),
        ("summarize", "keeps_parts summarizer"),
        ("restore", "timing=AfterLayers keeps_parts restores"),
        ("archive", "timing=BeforeLayers archive_path"),
        ("recorded", "remains=Some(Nothing) keeps_parts repeats_record"),
        ("program", "timing=Alone keeps_parts writes_markers summarizer program"),
    ];

    /// Returns every trait as text, with its name.
    fn texts(traits: &LayerTraits) -> [(&'static str, String); 15] {
        // Without `..`, so that a new trait does not compile until it is here.
        let LayerTraits {
            timing,
            remains,
            rewrites_in_place,
            keeps_parts,
            stability,
            max_messages,
            writes_markers,
            restores,
            repeats_record,
            filter,
            waits,
            down_to,
            summarizer,
            archive_path,
            program,
        } = traits;
        [
            ("timing", format!("{timing:?}")),
            ("remains", format!("{remains:?}")),
            ("rewrites_in_place", rewrites_in_place.to_string()),
            ("keeps_parts", keeps_parts.to_string()),
            ("stability", format!("{stability:?}")),
            ("max_messages", format!("{max_messages:?}")),
            ("writes_markers", writes_markers.to_string()),
            ("restores", restores.to_string()),
            ("repeats_record", repeats_record.to_string()),
            ("filter", filter.is_some().to_string()),
            ("waits", format!("{waits:?}")),
            ("down_to", down_to.is_some().to_string()),
            ("summarizer", summarizer.is_some().to_string()),
            ("archive_path", archive_path.is_some().to_string()),
            ("program", program.is_some().to_string()),
        ]
    }

    fn apart(traits: &LayerTraits) -> String {
        let differing = texts(traits).into_iter().zip(texts(&LayerTraits::PLAIN)).filter(|(own, plain)| own != plain);
        let written = differing.map(|((name, own), _)| if own == "true" { name.to_owned() } else { format!("{name}={own}") });
        written.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn kinds_differ_from_a_plain_layer_as_listed() {
        let kinds: Vec<(&str, String)> = LAYERS.iter().map(|kind| (kind.name, apart(&(kind.default)().traits()))).collect();
        assert_eq!(kinds, APART.map(|(name, traits)| (name, traits.to_owned())));
    }
}
