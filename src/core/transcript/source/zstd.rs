//! Decompresses Zstandard (RFC 8878) while it is read, so that a few kilobytes cannot fill the memory.

use std::io::{self, Error, ErrorKind, Read};

use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// Frames with `0x184D2A50` to `0x184D2A5F` in front hold data of other programs, which decoders skip.
const SKIPPABLE: u32 = 0x184D_2A50;

/// The content of all frames of a file, one after the other.
pub struct Frames<R> {
    source: R,
    decoder: FrameDecoder,
    is_in_frame: bool,
}

impl<R: Read> Frames<R> {
    pub fn new(source: R) -> Self {
        Self { source, decoder: FrameDecoder::new(), is_in_frame: false }
    }

    /// Begins the next frame; `false` at the end of the file.
    fn begin_frame(&mut self) -> io::Result<bool> {
        loop {
            let mut magic = Vec::new();
            self.source.by_ref().take(4).read_to_end(&mut magic)?;
            if magic.is_empty() {
                return Ok(false);
            }
            if <[u8; 4]>::try_from(magic.as_slice()).is_ok_and(|bytes| u32::from_le_bytes(bytes) & !0xf == SKIPPABLE) {
                self.skip_frame()?;
                continue;
            }
            let frame = magic.as_slice().chain(self.source.by_ref());
            self.decoder.init(frame).map_err(|error| Error::new(ErrorKind::InvalidData, error))?;
            return Ok(true);
        }
    }

    fn skip_frame(&mut self) -> io::Result<()> {
        let mut length = [0; 4];
        self.source.read_exact(&mut length)?;
        let length = u64::from(u32::from_le_bytes(length));
        let skipped = io::copy(&mut self.source.by_ref().take(length), &mut io::sink())?;
        if skipped < length { Err(ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
    }
}

impl<R: Read> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !buffer.is_empty() {
            if !self.is_in_frame && !self.begin_frame()? {
                break;
            }
            self.is_in_frame = true;
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let one = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder.decode_blocks(&mut self.source, one).map_err(|error| Error::new(ErrorKind::InvalidData, error))?;
            }
            let read = self.decoder.read(buffer)?;
            if read > 0 {
                return Ok(read);
            }
            self.is_in_frame = false;
        }
        Ok(0)
    }
}
