//! Tokens by the record: how many tokens a model's own tokenizer, which is not public, makes of a character.
//!
//! A provider says how many tokens it read at every call. From one call to the next the request grows by what entered, and that
//! the record holds: so many characters of tool results, tool uses, text and thinking, so many tokens more. [`deltas`] finds
//! the calls of which that can be said, [`Fit`] draws a line through them, and [`apportion`] gives every block its share of what
//! was recorded. A conversation with too few such calls is counted by the rates of its [`Family`].

mod deltas;
mod family;
mod fit;
mod metered;
mod share;
mod theil_sen;

use crate::tokens::meter::{Meter, Rates};
use crate::transcript::conversation::Conversation;

pub use deltas::{Delta, deltas, messages};
pub use family::{FAMILIES, Family, family, has_public_tokenizer, model};
pub use fit::{FEWEST, Fit, Spread, estimate, fit, held_out};
pub use metered::{message_size, metered};
pub use share::apportion;
pub use theil_sen::{median, quantile};

/// How one conversation's tokens are counted.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// `None` where the record names none.
    pub model: Option<String>,
    pub rates: Rates,
    /// Calls of this model whose growth is recorded.
    pub deltas: usize,
    /// What the rates are of.
    pub by: By,
    pub spread: Spread,
    /// The size of every block in ten-thousandths of a token.
    pub sizes: Vec<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// The conversation itself.
    Itself,
    /// Other recordings of its family of models, with this name.
    Family(&'static str),
}

impl Calibration {
    /// By the conversation's own usage, else by its family; `None` if neither tells anything.
    pub fn of(conversation: &Conversation) -> Option<Self> {
        let model = model(conversation);
        let all = deltas(conversation);
        let own = own(conversation, &all);
        let (by, rates, spread) = match Fit::of(&own) {
            Some(fit) => (By::Itself, fit.rates, fit.spread),
            None => model.and_then(family).map(|family| (By::Family(family.name), family.rates, family.spread))?,
        };
        let sizes = apportion(conversation, rates, &all);
        Some(Self { model: model.map(str::to_owned), rates, deltas: own.len(), by, spread, sizes })
    }

    pub fn meter(&self) -> Meter {
        Meter::fitted(self.rates)
    }
}

/// The deltas of the model that answered the most calls: what one line can be drawn through.
pub fn own(conversation: &Conversation, deltas: &[Delta]) -> Vec<Delta> {
    let model = model(conversation);
    deltas.iter().filter(|delta| conversation.calls[delta.call].model.as_deref() == model).cloned().collect()
}

#[cfg(test)]
mod tests;
