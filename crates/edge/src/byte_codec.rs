//! Encodes numbers, texts and lists into bytes.

/// A text is longer than its length can say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a part of a link is too long")]
pub(crate) struct TooLong;

/// Writes values, one after another.
#[derive(Debug, Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    /// Adds a number: seven bits a byte, lowest first.
    pub(crate) fn number(&mut self, number: u32) {
        let mut rest = number;
        while rest >= 0x80 {
            let [low, ..] = rest.to_le_bytes();
            self.0.push(low | 0x80);
            rest >>= 7;
        }
        let [last, ..] = rest.to_le_bytes();
        self.0.push(last);
    }

    /// Adds a text after its length.
    pub(crate) fn text(&mut self, text: &[u8]) -> Result<(), TooLong> {
        self.number(u32::try_from(text.len()).map_err(|_| TooLong)?);
        self.bytes(text);
        Ok(())
    }

    /// Adds a list of texts.
    pub(crate) fn list(&mut self, texts: impl IntoIterator<Item: AsRef<[u8]>>) -> Result<(), TooLong> {
        self.text(&encoded_list(texts)?)
    }

    /// Adds bytes that the reader finds without a length.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Returns everything written.
    pub(crate) fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// Encodes texts for [`Items::new`].
pub(crate) fn encoded_list(texts: impl IntoIterator<Item: AsRef<[u8]>>) -> Result<Vec<u8>, TooLong> {
    let mut items = Writer::default();
    for text in texts {
        items.text(text.as_ref())?;
    }
    Ok(items.finish())
}

/// Reads values in the order in which they were written. Where bytes are missing, values are empty.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Reads a number.
    pub(crate) fn number(&mut self) -> u32 {
        let (mut number, mut rest) = (0, self.0);
        for shift in (0..u32::BITS).step_by(7) {
            let Some((byte, behind)) = rest.split_first() else { break };
            number |= u32::from(byte & 0x7f) << shift;
            rest = behind;
            if *byte < 0x80 {
                break;
            }
        }
        self.0 = rest;
        number
    }

    /// Reads a text.
    pub(crate) fn text(&mut self) -> &'a [u8] {
        let length = usize::try_from(self.number()).unwrap_or(usize::MAX);
        self.bytes(length)
    }

    /// Reads a list of texts.
    pub(crate) fn list(&mut self) -> Items<'a> {
        Items::new(self.text())
    }

    /// Reads this many bytes.
    pub(crate) fn bytes(&mut self, length: usize) -> &'a [u8] {
        let (bytes, rest) = self.0.split_at_checked(length).unwrap_or_default();
        self.0 = rest;
        bytes
    }

    /// Returns the bytes after the values read so far.
    pub(crate) const fn rest(self) -> &'a [u8] {
        self.0
    }
}

/// The texts of a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Items<'a>(&'a [u8]);

impl<'a> Items<'a> {
    /// Takes the bytes of [`encoded_list`].
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[expect(clippy::copy_iterator, reason = "it is two words, and callers read it more than once")]
impl<'a> Iterator for Items<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.0.is_empty() {
            return None;
        }
        let mut reader = Reader::new(self.0);
        let text = reader.text();
        self.0 = reader.rest();
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text() -> impl Strategy<Value = Vec<u8>> {
        let lengths = prop_oneof![0..300_usize, Just(127), Just(128), Just(16_384), Just(70_000)];
        lengths.prop_map(|length| vec![b'x'; length])
    }

    proptest! {
        #[test]
        fn values_survive_encoding(
            number: u32,
            text in text(),
            list in proptest::collection::vec(text(), 0..4),
            rest: Vec<u8>,
        ) {
            let mut writer = Writer::default();
            writer.number(number);
            writer.text(&text).unwrap();
            writer.list(&list).unwrap();
            writer.bytes(&rest);
            let bytes = writer.finish();
            let mut reader = Reader::new(&bytes);
            prop_assert_eq!((reader.number(), reader.text()), (number, &text[..]));
            prop_assert_eq!(reader.list().collect::<Vec<_>>(), list);
            prop_assert_eq!(reader.rest(), &rest[..]);
        }

        /// A damaged list ends.
        #[test]
        fn any_bytes_read_as_something(bytes: Vec<u8>) {
            let mut reader = Reader::new(&bytes);
            let number_and_list = (reader.number(), reader.list().count());
            prop_assert!(number_and_list.1 <= bytes.len());
            prop_assert!(Items::new(&bytes).count() <= bytes.len());
        }
    }

    #[test]
    fn numbers_take_a_byte_for_seven_bits() {
        for (number, length) in [(0, 1), (127, 1), (128, 2), (16_383, 2), (16_384, 3), (u32::MAX, 5)] {
            let mut writer = Writer::default();
            writer.number(number);
            assert_eq!(writer.finish().len(), length, "{number}");
        }
    }
}
