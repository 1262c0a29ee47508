//! Asks the layers of a policy, while it is replayed, what they would propose with the settings of other policies.

use std::collections::BTreeMap;

use crate::engine::context::Context;
use crate::engine::layer::{LayerInput, LayerSpec, Proposal, RunningLayer};
use crate::engine::replay::Observer;

/// Other settings of the layers of a policy, for as long as each proposes the same. Their layers see the same contexts, so they remember
/// what they would remember in a replay of their own.
pub struct OtherSettings<'a>(Vec<Vec<OtherLayer<'a>>>);

/// A layer with other settings.
struct OtherLayer<'a> {
    /// The number of the settings.
    number: usize,
    layer: RunningLayer<'a>,
}

impl<'a> OtherSettings<'a> {
    /// Other settings for each layer, by their number.
    pub(super) fn new(layers: impl Iterator<Item = BTreeMap<usize, &'a LayerSpec>>) -> Self {
        let start = |(number, spec): (usize, &'a LayerSpec)| OtherLayer { number, layer: spec.start() };
        Self(layers.map(|others| others.into_iter().map(start).collect()).collect())
    }

    /// Returns for each layer the numbers of the settings that proposed the same until now.
    pub(super) fn same(self) -> impl Iterator<Item = Vec<usize>> {
        self.0.into_iter().map(|others| others.into_iter().map(|other| other.number).collect())
    }
}

impl Observer for OtherSettings<'_> {
    fn proposed(&mut self, layer: usize, input: &LayerInput, proposal: &Proposal) {
        self.0[layer].retain_mut(|other| other.layer.propose(input) == *proposal);
    }

    fn settled(&mut self, layer: usize, context: &Context) {
        self.0[layer].iter_mut().for_each(|other| other.layer.settle(context));
    }
}
