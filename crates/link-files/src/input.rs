//! The bytes of a file, with their lines counted.

use std::io::{self, BufRead, BufReader, Cursor, Read};

/// The byte order mark that a file in UTF-8 may begin with.
const BYTE_ORDER_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

/// The marks that files in UTF-16 begin with, in either byte order.
const UTF_16_MARKS: [[u8; 2]; 2] = [[0xff, 0xfe], [0xfe, 0xff]];

/// The size of the buffer.
const BUFFER_BYTES: usize = 64 * 1024;

/// The bytes of a file without its byte order mark. Counts the consumed bytes and lines, which end with LF, CR
/// or both.
pub(crate) struct Input<R> {
    bytes: BufReader<io::Chain<Cursor<Vec<u8>>, R>>,
    consumed: u64,
    line: u64,
    ended_with_cr: bool,
}

impl<R: Read> Input<R> {
    /// The bytes of `source`; `None` if they are in UTF-16.
    pub(crate) fn new(mut source: R) -> io::Result<Option<Self>> {
        let mut start = Vec::with_capacity(BYTE_ORDER_MARK.len());
        source.by_ref().take(3).read_to_end(&mut start)?;
        if UTF_16_MARKS.iter().any(|mark| start.starts_with(mark)) {
            return Ok(None);
        }
        let mut consumed = 0;
        if start == BYTE_ORDER_MARK {
            start.clear();
            consumed = 3;
        }
        let bytes = BufReader::with_capacity(BUFFER_BYTES, Cursor::new(start).chain(source));
        Ok(Some(Self { bytes, consumed, line: 1, ended_with_cr: false }))
    }

    /// The next bytes; none at the end.
    pub(crate) fn peek(&mut self) -> io::Result<&[u8]> {
        loop {
            match self.bytes.fill_buf() {
                Ok(_) => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.bytes.fill_buf()
    }

    /// Consumes the first `count` of the peeked bytes.
    pub(crate) fn consume(&mut self, count: usize) {
        for byte in self.bytes.buffer().iter().take(count) {
            match byte {
                b'\r' => self.line += 1,
                b'\n' if !self.ended_with_cr => self.line += 1,
                _ => {}
            }
            self.ended_with_cr = *byte == b'\r';
        }
        self.bytes.consume(count);
        self.consumed = self.consumed.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
    }

    /// Skips the line ends that come next.
    pub(crate) fn skip_line_ends(&mut self) -> io::Result<()> {
        loop {
            let bytes = self.peek()?;
            let ends = bytes.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            if ends == 0 {
                return Ok(());
            }
            self.consume(ends);
        }
    }

    /// Reads the rest of the line without its end. A line longer than `at_most` bytes is skipped and returns
    /// `None`.
    pub(crate) fn read_line(&mut self, at_most: usize) -> io::Result<Option<Vec<u8>>> {
        let (mut line, mut fits) = (vec![], true);
        loop {
            let bytes = self.peek()?;
            let end = bytes.iter().position(|byte| matches!(byte, b'\r' | b'\n'));
            let part = end.and_then(|end| bytes.get(..end)).unwrap_or(bytes);
            fits = fits && line.len() + part.len() <= at_most;
            if fits {
                line.extend_from_slice(part);
            }
            let (taken, is_last) = (part.len(), end.is_some() || bytes.is_empty());
            self.consume(taken);
            if is_last {
                return Ok(fits.then_some(line));
            }
        }
    }

    /// The line of the next byte, the first being 1.
    pub(crate) const fn line(&self) -> u64 {
        self.line
    }

    /// The number of consumed bytes.
    pub(crate) const fn consumed(&self) -> u64 {
        self.consumed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line number of each letter.
    fn lines_of_letters(text: &[u8]) -> Vec<(char, u64)> {
        let mut input = Input::new(text).unwrap().unwrap();
        let mut lines = vec![];
        while let Some(byte) = input.peek().unwrap().first().copied() {
            if byte.is_ascii_alphabetic() {
                lines.push((char::from(byte), input.line()));
            }
            input.consume(1);
        }
        lines
    }

    #[test]
    fn a_line_ends_with_lf_cr_or_both() {
        assert_eq!(
            lines_of_letters(b"a\nb\r\nc\rd\r\re\n\nf\r\n\r\ng"),
            [('a', 1), ('b', 2), ('c', 3), ('d', 4), ('e', 6), ('f', 8), ('g', 10)]
        );
    }

    #[test]
    fn a_byte_order_mark_is_skipped() {
        let mut input = Input::new(&b"\xef\xbb\xbfab"[..]).unwrap().unwrap();
        assert_eq!(input.peek().unwrap(), b"ab");
        input.consume(2);
        assert_eq!(input.consumed(), 5);
        for short in [&b""[..], b"a", b"\xef\xbb", b"ab"] {
            let mut input = Input::new(short).unwrap().unwrap();
            let mut read = vec![];
            while let bytes @ [_, ..] = input.peek().unwrap() {
                read.extend_from_slice(bytes);
                let count = bytes.len();
                input.consume(count);
            }
            assert_eq!(read, short);
        }
    }

    #[test]
    fn utf_16_is_recognised_by_its_mark() {
        assert!(Input::new(&b"\xff\xfea\0"[..]).unwrap().is_none());
        assert!(Input::new(&b"\xfe\xff\0a"[..]).unwrap().is_none());
    }
}
