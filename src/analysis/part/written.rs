//! The written form of parts.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Given, Part, PartError, Place, Row, VERSION, json};
use crate::analysis::corpus::{Became, Outcome};
use crate::analysis::resume::Checkpoint;
use crate::results::saved::{Program, StudyRecord};
use crate::util::spill::Spill;

/// The first bytes of gzip (RFC 1952, 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Rows that are compressed together: a member of a gzip file (RFC 1952, 2.2), so that several threads write a part.
const ROWS_OF_MEMBER: usize = 16;

/// Rows that all threads read or write at once. Each may have some 100 kB.
const ROWS_AT_ONCE: usize = 8 * ROWS_OF_MEMBER;

/// The first line of a written part. Each further line is a row.
#[derive(Serialize, Deserialize)]
struct Header {
    recompact_part: u32,
    program: Program,
    /// Number of rows: a file that was cut off has fewer.
    rows: usize,
    study: StudyRecord,
}

/// An [`Outcome`], to be written.
#[derive(Serialize)]
struct WrittenRow<'a> {
    transcript: &'a str,
    became: &'a Row,
}

impl Part {
    /// Writes its written form, compressed by gzip: lines of JSON, a header and a row for each transcript. The same transcripts give the
    /// same bytes.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be written.
    pub fn write(&self, mut to: impl Write) -> io::Result<()> {
        let header =
            Header { recompact_part: VERSION, program: Program::this(), rows: self.rows.len(), study: self.study.clone() };
        to.write_all(&compressed([json(&header)]))?;
        let rows: Vec<(&Place, &Row)> = self.rows.iter().collect();
        let line = |(Place { transcript, .. }, became): &(&Place, &Row)| json(&WrittenRow { transcript, became });
        let member = |rows: &[(&Place, &Row)]| compressed(rows.iter().map(line));
        for rows in rows.chunks(ROWS_AT_ONCE) {
            let members: Vec<Vec<u8>> = rows.par_chunks(ROWS_OF_MEMBER).map(member).collect();
            members.iter().try_for_each(|member| to.write_all(member))?;
        }
        Ok(())
    }

    /// Returns its written form, compressed by gzip.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.write(&mut bytes).expect("memory can be written to");
        bytes
    }

    /// Reads its written form, compressed or not. The results of many transcripts wait in a file.
    ///
    /// # Errors
    ///
    /// Fails unless it is a whole part of this version of the program.
    pub fn read(from: impl Read, spill: &Spill) -> Result<Self, PartError> {
        let mut from = BufReader::new(from);
        if from.fill_buf().map_err(PartError::Unreadable)?.starts_with(&GZIP) {
            Self::from_lines(BufReader::new(MultiGzDecoder::new(from)), spill)
        } else {
            Self::from_lines(from, spill)
        }
    }

    fn from_lines(from: impl BufRead, spill: &Spill) -> Result<Self, PartError> {
        let mut lines = from.lines().enumerate();
        let (_, first) = lines.next().ok_or(PartError::NoPart)?;
        let header: Header = serde_json::from_str(&first.map_err(PartError::Unreadable)?).map_err(|_| PartError::NoPart)?;
        if header.recompact_part != VERSION {
            return Err(PartError::OtherVersion(header.recompact_part));
        }
        if header.program != Program::this() {
            return Err(PartError::OtherProgram(header.program));
        }
        let row = |(nth, line): (usize, io::Result<String>)| {
            let line = line.map_err(PartError::Unreadable)?;
            let mut row: Outcome<Checkpoint<Given>> =
                serde_json::from_str(&line).map_err(|why| PartError::Row { line: nth + 1, why })?;
            if let Became::Done(done) = &mut row.became
                && let Given::Replay(replay) = &mut done.result.result
            {
                replay.spill(spill).map_err(PartError::NoSpill)?;
            }
            Ok((Place::of(&row.transcript, &row.became), row.became))
        };
        let mut rows = BTreeMap::new();
        loop {
            let read: Vec<(usize, io::Result<String>)> = lines.by_ref().take(ROWS_AT_ONCE).collect();
            if read.is_empty() {
                break;
            }
            let parsed: Vec<Result<(Place, Row), PartError>> = read.into_par_iter().map(row).collect();
            for row in parsed {
                let (place, became) = row?;
                rows.insert(place, became);
            }
        }
        match rows.len() {
            found if found == header.rows => Ok(Self { study: header.study, rows }),
            found => Err(PartError::CutOff { found, rows: header.rows }),
        }
    }
}

/// Returns lines as a member of a gzip file. Most of a row is random keys, so more effort takes five times as long for an eighth of the size.
fn compressed(lines: impl IntoIterator<Item = String>) -> Vec<u8> {
    let mut to = GzEncoder::new(Vec::new(), Compression::fast());
    let written = lines.into_iter().try_for_each(|line| writeln!(to, "{line}"));
    written.and_then(|()| to.finish()).expect("memory can be written to")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::corpus::Unread;

    #[test]
    fn parts_of_more_rows_than_are_read_at_once_come_back() {
        let row = |nth: usize| {
            let became = Became::LeftOut(Unread::Failed(format!("why {nth}")));
            (Place::of(&format!("{nth}.jsonl"), &became), became)
        };
        for rows in [0, 1, ROWS_OF_MEMBER, ROWS_AT_ONCE + 1, 3 * ROWS_AT_ONCE] {
            let part = Part { study: StudyRecord::default(), rows: (0..rows).map(row).collect() };
            let bytes = part.to_bytes();
            let read = Part::read(&*bytes, &Spill::after(0)).expect("a part");
            assert_eq!((read.rows(), read.to_bytes()), (rows, bytes));
        }
    }
}
