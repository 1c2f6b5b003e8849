//! Encodes lists and texts that only some links have.

use crate::compiled_link::CompileError;

/// Number of lists in one section.
pub(crate) const LISTS: usize = 5;

/// Writes sections, one after another.
#[derive(Debug, Default)]
pub(crate) struct Sections(Vec<u8>);

impl Sections {
    pub(crate) fn text(&mut self, text: &[u8]) -> Result<(), CompileError> {
        write(&mut self.0, text)
    }

    /// Adds lists. Empty lists take no room.
    pub(crate) fn lists(&mut self, lists: &[Vec<&[u8]>; LISTS]) -> Result<(), CompileError> {
        let present = lists.iter().rev().fold(0, |present, list| present << 1 | u8::from(!list.is_empty()));
        self.0.push(present);
        for list in lists.iter().filter(|list| !list.is_empty()) {
            let mut bytes = Vec::new();
            for item in list {
                write(&mut bytes, item)?;
            }
            write(&mut self.0, &bytes)?;
        }
        Ok(())
    }

    /// Adds a list without the size limit of [`Self::lists`].
    pub(crate) fn long_list(&mut self, items: impl Iterator<Item: AsRef<[u8]>>) -> Result<(), CompileError> {
        let mut bytes = Vec::new();
        for item in items {
            write(&mut bytes, item.as_ref())?;
        }
        self.long_text(&bytes)
    }

    /// Adds a text without the size limit of [`Self::text`].
    pub(crate) fn long_text(&mut self, text: &[u8]) -> Result<(), CompileError> {
        let length = u32::try_from(text.len()).map_err(|_| CompileError::TooLong)?;
        self.0.extend_from_slice(&length.to_le_bytes());
        self.0.extend_from_slice(text);
        Ok(())
    }

    /// Returns all sections.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

fn write(bytes: &mut Vec<u8>, text: &[u8]) -> Result<(), CompileError> {
    let length = u16::try_from(text.len()).map_err(|_| CompileError::TooLong)?;
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(text);
    Ok(())
}

/// Reads sections in the order in which they were written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Reads a text.
    pub(crate) fn text(&mut self) -> &'a [u8] {
        read(&mut self.0).unwrap_or_default()
    }

    /// Reads the lists that [`Sections::lists`] wrote.
    pub(crate) fn lists(&mut self) -> [Items<'a>; LISTS] {
        let (present, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        std::array::from_fn(|place| match present >> place & 1 {
            0 => Items::default(),
            _ => Items(self.text()),
        })
    }

    /// Reads the list that [`Sections::long_list`] wrote.
    pub(crate) fn long_list(&mut self) -> Items<'a> {
        Items(self.long_text())
    }

    /// Reads the text that [`Sections::long_text`] wrote.
    pub(crate) fn long_text(&mut self) -> &'a [u8] {
        let text = self.0.split_first_chunk().and_then(|(length, rest)| {
            rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)
        });
        let (text, rest) = text.unwrap_or_default();
        self.0 = rest;
        text
    }

    /// Returns the bytes after the sections read so far.
    pub(crate) const fn rest(self) -> &'a [u8] {
        self.0
    }
}

fn read<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (text, rest) = rest.split_at_checked(usize::from(u16::from_le_bytes(*length)))?;
    *bytes = rest;
    Some(text)
}

/// The items of a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Items<'a>(&'a [u8]);

impl Items<'_> {
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[expect(clippy::copy_iterator, reason = "it is two words, and callers read it more than once")]
impl<'a> Iterator for Items<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        read(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_survive_encoding() {
        let lists = [vec![], vec![&b""[..], b"a", b"bc"], vec![], vec![], vec![&b"x"[..]]];
        let mut sections = Sections::default();
        sections.text(b"links.example.net").unwrap();
        sections.lists(&lists).unwrap();
        let long = vec![vec![7; 40_000]; 3];
        sections.long_list(long.iter()).unwrap();
        let text = vec![8; 70_000];
        sections.long_text(&text).unwrap();
        sections.long_text(b"").unwrap();
        let bytes = [sections.bytes(), b"rest"].concat();
        let mut reader = Reader::new(&bytes);
        assert_eq!(reader.text(), b"links.example.net");
        assert_eq!(reader.lists().map(Iterator::collect::<Vec<_>>), lists);
        assert_eq!(reader.long_list().collect::<Vec<_>>(), long);
        assert_eq!((reader.long_text(), reader.long_text()), (&text[..], &b""[..]));
        assert_eq!(reader.rest(), b"rest");
    }

    #[test]
    fn truncated_bytes_read_as_empty() {
        let mut reader = Reader::new(&[31, 9, 0, 1]);
        assert!(reader.lists().iter().all(Items::is_empty) && reader.text().is_empty());
        assert_eq!(Items(&[3, 0, b'x']).next(), None);
    }

    #[test]
    fn too_long_text_is_refused() {
        let long = vec![0; usize::from(u16::MAX) + 1];
        assert!(matches!(Sections::default().text(&long), Err(CompileError::TooLong)));
    }
}
