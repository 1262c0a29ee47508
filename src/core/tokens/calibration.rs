//! Estimates tokens per character from recorded usage, for models whose tokenizer is not public.
//!
//! The provider reports the tokens of every request. Between two calls, the recorded messages show how many characters of tool
//! results, tool uses, text and thinking were added, and the usage shows how many tokens. [`deltas`] finds the calls where
//! this comparison is possible, [`Fit`] fits a line through them, and [`apportion`] distributes the recorded tokens over the
//! blocks. A conversation with too few such calls uses the rates of its [`Family`].

mod deltas;
mod family;
mod fit;
mod metered;
mod share;
mod theil_sen;

use crate::tokens::meter::{Meter, Rates};
use crate::transcript::conversation::Conversation;

pub use deltas::{Delta, deltas, new_messages};
pub use family::{FAMILIES, Family, family, main_model, public_tokenizer};
pub use fit::{Fit, MIN_DELTAS, Spread, estimate, fit, one_rate};
pub use metered::{message_size, metered};
pub use share::apportion;
pub use theil_sen::{median, quantile};

/// How one conversation's tokens are counted.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// `None` if the transcript names no model.
    pub model: Option<String>,
    pub rates: Rates,
    /// Number of this model's calls with a [`Delta`].
    pub deltas: usize,
    /// Source of the rates.
    pub by: RateSource,
    pub spread: Spread,
    /// Estimated tokens of each of these calls by rates that were found on the other half of them; empty if the rates are a family's.
    pub held_out: Vec<f64>,
    /// Size of every block in ten-thousandths of a token.
    pub sizes: Vec<u64>,
}

/// The source of the rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateSource {
    /// The conversation's own usage.
    Itself,
    /// Other recordings of its model family, which has this name.
    Family(&'static str),
}

impl Calibration {
    /// Calibrates from the conversation's own usage, or else uses the rates of its family; `None` if neither is possible.
    pub fn for_conversation(conversation: &Conversation) -> Option<Self> {
        let model = main_model(conversation);
        let all = deltas(conversation);
        let own = own(conversation, &all);
        let of_family = |family: &Family| (RateSource::Family(family.name), family.rates, family.spread, Vec::new());
        let (by, rates, spread, held_out) = match Fit::from_deltas(&own) {
            Some(fit) => (RateSource::Itself, fit.rates, fit.spread, fit.held_out),
            None => model.and_then(family).map(of_family)?,
        };
        let sizes = apportion(conversation, rates, &all);
        Some(Self { model: model.map(str::to_owned), rates, deltas: own.len(), by, spread, held_out, sizes })
    }

    /// Returns the counter that was fitted.
    pub fn meter(&self) -> Meter {
        Meter::fitted(self.rates)
    }
}

/// Returns the deltas of the model that answered the most calls. One line fits only the deltas of one model.
pub fn own(conversation: &Conversation, deltas: &[Delta]) -> Vec<Delta> {
    let model = main_model(conversation);
    deltas.iter().filter(|delta| conversation.calls[delta.call].model.as_deref() == model).cloned().collect()
}

#[cfg(test)]
mod tests;
