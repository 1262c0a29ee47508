//! What waits for the end of a study: the first values in memory, and those of further transcripts in a temporary file.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The results of this number of transcripts stay in memory. With seven policies, those of small sessions take some 60 MB.
const IN_MEMORY: usize = 1_000;

/// A temporary file for the values of many transcripts. It has no name that another program could open, and goes with the last value in
/// it.
#[derive(Debug, Clone)]
pub struct Spill(Arc<SpillFile>);

#[derive(Debug)]
struct SpillFile {
    /// Number of transcripts that still stay in memory.
    left: AtomicUsize,
    /// Created when the first value goes there.
    file: Mutex<Option<File>>,
}

/// A value in memory or in a file. It is serialized as the value.
#[derive(Debug)]
pub enum Held<T> {
    Here(T),
    Spilled(Spilled),
}

/// The place of a value in a file.
#[derive(Debug)]
pub struct Spilled {
    file: Arc<SpillFile>,
    at: u64,
    bytes: usize,
}

impl Default for Spill {
    fn default() -> Self {
        Self::after(IN_MEMORY)
    }
}

impl Spill {
    /// Takes the values of all transcripts after the first ones.
    pub fn after(transcripts: usize) -> Self {
        Self(Arc::new(SpillFile { left: transcripts.into(), file: Mutex::default() }))
    }

    /// Counts a transcript. Returns whether its values go to the file.
    pub fn takes_next(&self) -> bool {
        let one_less = |left: usize| left.checked_sub(1);
        self.0.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_err()
    }
}

impl SpillFile {
    fn write(&self, bytes: &[u8]) -> io::Result<u64> {
        let mut held = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let file = match &mut *held {
            Some(file) => file,
            none => none.insert(tempfile::tempfile()?),
        };
        let at = file.seek(SeekFrom::End(0))?;
        file.write_all(bytes)?;
        Ok(at)
    }

    fn read(&self, at: u64, bytes: usize) -> io::Result<Vec<u8>> {
        let mut held = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let file = held.as_mut().ok_or(io::ErrorKind::NotFound)?;
        file.seek(SeekFrom::Start(at))?;
        let mut content = vec![0; bytes];
        file.read_exact(&mut content)?;
        Ok(content)
    }
}

impl<T: Serialize + DeserializeOwned> Held<T> {
    /// Moves the value to a file.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be written. The value then stays in memory.
    pub fn spill(&mut self, to: &Spill) -> io::Result<()> {
        if let Self::Here(value) = self {
            let content = rmp_serde::to_vec_named(value).expect("results are plain data with text keys");
            let at = to.0.write(&content)?;
            *self = Self::Spilled(Spilled { file: to.0.clone(), at, bytes: content.len() });
        }
        Ok(())
    }

    /// Returns the value.
    pub fn into_value(self) -> T {
        match self {
            Self::Here(value) => value,
            Self::Spilled(spilled) => spilled.value(),
        }
    }

    /// Returns the value, which stays where it is.
    pub fn value(&self) -> Cow<'_, T>
    where
        T: Clone,
    {
        match self {
            Self::Here(value) => Cow::Borrowed(value),
            Self::Spilled(spilled) => Cow::Owned(spilled.value()),
        }
    }
}

impl Spilled {
    fn value<T: DeserializeOwned>(&self) -> T {
        let content = self.file.read(self.at, self.bytes).expect("a temporary file gives back what was written");
        rmp_serde::from_slice(&content).expect("it was written as this type")
    }
}

impl<T: Default> Default for Held<T> {
    fn default() -> Self {
        Self::Here(T::default())
    }
}

impl<T: Serialize + DeserializeOwned> Serialize for Held<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Here(value) => value.serialize(serializer),
            Self::Spilled(spilled) => spilled.value::<T>().serialize(serializer),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Held<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self::Here)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_from_a_file_in_any_order() {
        let spill = Spill::after(2);
        let moved: Vec<bool> = (0..4).map(|_| spill.takes_next()).collect();
        assert_eq!(moved, [false, false, true, true]);
        let texts = ["one", "", "three\u{1f980}"];
        let mut held: Vec<Held<(String, f64, Option<u64>)>> =
            texts.iter().map(|text| Held::Here(((*text).to_owned(), 0.1, Some(u64::MAX)))).collect();
        for one in &mut held {
            one.spill(&spill).expect("a temporary file");
        }
        assert!(held.iter().all(|held| matches!(held, Held::Spilled(_))));
        let back = |at: usize| held[at].value().into_owned();
        assert_eq!([2, 0, 1].map(back), [2, 0, 1].map(|at| (texts[at].to_owned(), 0.1, Some(u64::MAX))));
        let json = |held: &Held<_>| serde_json::to_string(held).expect("plain data");
        assert_eq!(json(&held[0]), format!(r#"["one",0.1,{}]"#, u64::MAX));
        let here: Held<(String, f64, Option<u64>)> = serde_json::from_str(&json(&held[0])).expect("what was written");
        assert_eq!(here.into_value(), held.swap_remove(0).into_value());
    }
}
