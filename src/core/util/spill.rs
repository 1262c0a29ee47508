//! Temporary files for what a large study does not need at once.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The results of this number of transcripts stay in memory. With seven policies, those of small sessions take some 60 MB.
const IN_MEMORY: usize = 1_000;
/// Bytes that are written and read at once.
const CHUNK: usize = 1 << 16;
/// Chunks that a thread keeps: rows of one conversation come from a file for each policy and each bound.
const CHUNKS: usize = 32;

/// A temporary file for the values of many transcripts. It has no name that another program could open, and goes with the last value in
/// it.
#[derive(Debug, Clone)]
pub struct Spill(Arc<SpillFile>);

#[derive(Debug)]
struct SpillFile {
    /// Identifies the file: a thread keeps chunks of several files.
    number: u64,
    /// Number of transcripts that still stay in memory.
    left: AtomicUsize,
    content: Mutex<Content>,
}

#[derive(Debug, Default)]
struct Content {
    /// Created when the first chunk goes there.
    file: Option<File>,
    /// Number of bytes in the file.
    written: u64,
    /// What comes after them.
    rest: Vec<u8>,
}

/// The place of bytes in a temporary file.
#[derive(Debug, Clone)]
pub struct Place {
    file: Arc<SpillFile>,
    at: u64,
    bytes: u32,
}

/// What was read of a file at once.
struct Chunk {
    file: u64,
    at: u64,
    bytes: Vec<u8>,
}

thread_local! {
    /// The last chunks of this thread, the newest first.
    static LAST_READ: RefCell<Vec<Chunk>> = const { RefCell::new(Vec::new()) };
}

impl Default for Spill {
    fn default() -> Self {
        Self::after(IN_MEMORY)
    }
}

impl Spill {
    /// Takes the values of all transcripts after the first ones.
    pub fn after(transcripts: usize) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Self(Arc::new(SpillFile { number, left: transcripts.into(), content: Mutex::default() }))
    }

    /// Counts a transcript. Returns whether its values go to the file.
    pub fn takes_next(&self) -> bool {
        let one_less = |left: usize| left.checked_sub(1);
        self.0.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_err()
    }

    /// Writes bytes to the end of the file.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be written.
    pub fn write(&self, bytes: &[u8]) -> io::Result<Place> {
        let length = u32::try_from(bytes.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let mut content = self.0.content.lock().unwrap_or_else(PoisonError::into_inner);
        let at = content.add(bytes)?;
        Ok(Place { file: self.0.clone(), at, bytes: length })
    }
}

impl Content {
    fn add(&mut self, bytes: &[u8]) -> io::Result<u64> {
        let before = self.rest.len();
        self.rest.extend(bytes);
        if self.rest.len() >= CHUNK
            && let Err(error) = self.write_rest()
        {
            self.rest.truncate(before);
            return Err(error);
        }
        Ok(self.end() - bytes.len() as u64)
    }

    fn write_rest(&mut self) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile()?),
        };
        file.seek(SeekFrom::Start(self.written))?;
        file.write_all(&self.rest)?;
        self.written += self.rest.len() as u64;
        self.rest.clear();
        Ok(())
    }

    fn end(&self) -> u64 {
        self.written + self.rest.len() as u64
    }

    /// Reads this many bytes, or those that are there. What was written at once is wholly in the file, or wholly in the rest.
    fn read(&mut self, at: u64, most: usize) -> io::Result<Vec<u8>> {
        if let Some(begin) = at.checked_sub(self.written) {
            let rest = &self.rest[begin as usize..];
            return Ok(rest[..most.min(rest.len())].to_vec());
        }
        let mut bytes = vec![0; most.min((self.written - at) as usize)];
        let file = self.file.as_mut().ok_or(io::ErrorKind::NotFound)?;
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

impl Place {
    /// Returns the bytes.
    pub fn bytes(&self) -> Vec<u8> {
        self.read(self.bytes as usize)
    }

    /// Calls `see` with the bytes. It is fast for many places in the order of the file. `see` may not look at other places.
    pub fn see<T>(&self, see: impl FnOnce(&[u8]) -> T) -> T {
        let (file, length) = (self.file.number, u64::from(self.bytes));
        let holds =
            |chunk: &Chunk| chunk.file == file && chunk.at <= self.at && self.at + length <= chunk.at + chunk.bytes.len() as u64;
        LAST_READ.with_borrow_mut(|chunks| {
            let place = chunks.iter().position(holds).unwrap_or_else(|| {
                // The last chunk of the file is rarely needed again.
                let old = chunks.iter().position(|chunk| chunk.file == file);
                match old {
                    Some(old) => drop(chunks.remove(old)),
                    None => chunks.truncate(CHUNKS - 1),
                }
                chunks.insert(0, Chunk { file, at: self.at, bytes: self.read(CHUNK.max(self.bytes as usize)) });
                0
            });
            let chunk = &chunks[place];
            let begin = (self.at - chunk.at) as usize;
            see(&chunk.bytes[begin..begin + self.bytes as usize])
        })
    }

    fn read(&self, most: usize) -> Vec<u8> {
        let mut content = self.file.content.lock().unwrap_or_else(PoisonError::into_inner);
        content.read(self.at, most).expect("a temporary file gives back what was written")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_transcripts_stay_in_memory() {
        let spill = Spill::after(2);
        let moved: Vec<bool> = (0..4).map(|_| spill.takes_next()).collect();
        assert_eq!(moved, [false, false, true, true]);
    }

    #[test]
    fn bytes_come_back_from_any_place_in_any_order() {
        let spills = [0; 3].map(|_| Spill::after(0));
        let content = |nth: usize| vec![nth as u8; nth * 7 % 1_000];
        let places: Vec<Place> = (0..1_200).map(|nth| spills[nth % 3].write(&content(nth)).expect("a temporary file")).collect();
        assert!(spills[0].0.content.lock().expect("no panic").written > 0, "some are in the file, some not yet");
        let orders: [Vec<usize>; 3] =
            [(0..1_200).collect(), (0..1_200).rev().collect(), (0..1_200).map(|nth| nth * 7 % 1_200).collect()];
        for nth in orders.into_iter().flatten() {
            assert_eq!(places[nth].bytes(), content(nth));
            assert!(places[nth].see(|bytes| *bytes == content(nth)), "{nth}");
        }
        let large = spills[0].write(&vec![7; 3 * CHUNK]).expect("a temporary file");
        assert!(large.see(|bytes| bytes.len() == 3 * CHUNK && bytes.iter().all(|byte| *byte == 7)));
    }
}
