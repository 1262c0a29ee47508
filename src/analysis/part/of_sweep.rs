//! What the stages of a sweep find in its parts.

use super::{Given, Part, PartError, Place, Row};
use crate::analysis::corpus::{Became, Done, Outcome, Outcomes, Processed};
use crate::analysis::resume::{Checkpoint, ONE_ROUND};
use crate::analysis::study::TranscriptSize;

impl Part {
    /// Returns what became of the transcripts in the first stage of a sweep.
    ///
    /// # Errors
    ///
    /// Fails if it is no part of a sweep.
    pub fn sizes(&self) -> Result<Processed<TranscriptSize>, PartError> {
        let first = self.rows.iter().filter(|(place, _)| place.round == ONE_ROUND);
        let outcome = |(place, became): (&Place, &Row)| {
            let became = match became {
                Became::Done(Done { result: Checkpoint { result: Given::Size(size), .. }, skipped_lines }) => {
                    Became::Done(Done { result: size.clone(), skipped_lines: skipped_lines.clone() })
                }
                Became::Done(_) => return Err(PartError::OfReplay),
                Became::LeftOut(why) => Became::LeftOut(why.clone()),
            };
            Ok(Outcome { transcript: place.transcript.clone(), became })
        };
        let of = first.map(outcome).collect::<Result<_, PartError>>()?;
        Ok(Processed::new(Outcomes { of, is_stopped: false }))
    }

    /// Returns what a transcript gave in a round of a sweep; `None` if it is not here.
    ///
    /// # Errors
    ///
    /// Fails if the transcript was changed since the first stage.
    pub(in crate::analysis) fn given(&self, round: &str, transcript: &str) -> Result<Option<&Given>, PartError> {
        let of_round = |round: &str| match self.rows.get(&Place::in_round(round, transcript)) {
            Some(Became::Done(done)) => Some(&done.result),
            _ => None,
        };
        let given = of_round(round);
        if given.zip(of_round(ONE_ROUND)).is_some_and(|(now, first)| now.hash != first.hash) {
            return Err(PartError::Changed(transcript.to_owned()));
        }
        Ok(given.map(|done| &done.result))
    }

    /// Takes what a transcript gave in a round of a sweep.
    pub(in crate::analysis) fn take(&mut self, round: &str, transcript: &str) -> Option<Given> {
        match self.rows.remove(&Place::in_round(round, transcript))? {
            Became::Done(done) => Some(done.result.result),
            Became::LeftOut(_) => None,
        }
    }
}
