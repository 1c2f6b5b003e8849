//! How much of what a TLS client has sent is not decrypted yet.
//!
//! The TLS library decrypts whole records. A client that leaves a record of 16 KiB unfinished makes the library hold it, and the
//! library does not report this. So the records are followed on their way from the socket to the library.

/// What the library holds of every connection to read into, also between two records.
const READ_BYTES: usize = 4 * 1024;

/// More than the library holds of one connection: the largest message of a handshake.
const MAX_HELD_BYTES: usize = 64 * 1024;

/// The type, the version and the length of a record.
const HEADER_BYTES: usize = 5;

/// What a client has sent of a record, and since the last plain text.
#[derive(Debug, Default)]
pub(crate) struct Ciphertext {
    /// How many bytes of the current record have arrived.
    record: usize,
    /// The length of the current record without its header, as far as the header has arrived.
    length: usize,
    /// How many bytes have arrived that gave no plain text. Those of records without any, such as padding, count too.
    undecrypted: usize,
    /// The size of the library's buffer when it last read.
    buffer: usize,
}

impl Ciphertext {
    /// Notes that the library reads into `room` bytes, and what it gets.
    pub(crate) fn note_read(&mut self, room: usize, read: &[u8]) {
        self.buffer = self.undecrypted + room;
        self.undecrypted = (self.undecrypted + read.len()).min(MAX_HELD_BYTES);
        self.follow(read);
    }

    fn follow(&mut self, mut bytes: &[u8]) {
        while let Some((&first, rest)) = bytes.split_first() {
            if self.record < HEADER_BYTES {
                self.record += 1;
                match self.record {
                    4 => self.length = usize::from(first) << 8,
                    5 => self.length |= usize::from(first),
                    _ => {}
                }
                bytes = rest;
            } else {
                let part = bytes.len().min(HEADER_BYTES + self.length - self.record);
                self.record += part;
                bytes = bytes.get(part..).unwrap_or_default();
            }
            if self.record >= HEADER_BYTES && self.record == HEADER_BYTES + self.length {
                self.record = 0;
            }
        }
    }

    /// Notes that all whole records are decrypted.
    pub(crate) const fn note_decrypted(&mut self) {
        self.undecrypted = self.record;
    }

    /// How many bytes have arrived since the last plain text, at most 64 KiB.
    pub(crate) const fn undecrypted_bytes(&self) -> usize {
        self.undecrypted
    }

    /// How much memory the undecrypted bytes hold.
    pub(crate) const fn held_bytes(&self) -> usize {
        if self.undecrypted == 0 { 0 } else { self.buffer.saturating_sub(READ_BYTES) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn record(length: u16) -> Vec<u8> {
        let [high, low] = length.to_be_bytes();
        [vec![0x17, 3, 3, high, low], vec![0xff; length.into()]].concat()
    }

    proptest! {
        #[test]
        fn r25_the_unfinished_record_is_found_however_the_bytes_arrive(
            lengths in prop::collection::vec(0_u16..300, 0..6), unfinished in 1_u16..300, missing in 1_usize..305, part in 1_usize..400,
        ) {
            let last = record(unfinished);
            let begun = last.len().saturating_sub(missing);
            let mut bytes: Vec<u8> = lengths.into_iter().flat_map(record).collect();
            bytes.extend_from_slice(&last[..begun]);
            let mut ciphertext = Ciphertext::default();
            for part in bytes.chunks(part) {
                ciphertext.note_read(READ_BYTES, part);
            }
            prop_assert_eq!(ciphertext.undecrypted_bytes(), bytes.len());
            ciphertext.note_decrypted();
            prop_assert_eq!(ciphertext.undecrypted_bytes(), begun);
        }
    }

    #[test]
    fn r25_an_unfinished_record_holds_the_buffer_of_the_library() {
        let mut ciphertext = Ciphertext::default();
        ciphertext.note_read(READ_BYTES, &record(100));
        ciphertext.note_decrypted();
        assert_eq!((ciphertext.undecrypted_bytes(), ciphertext.held_bytes()), (0, 0));
        // The library keeps a buffer that has grown while a single byte of the next record is in it.
        let large = record(16_000);
        ciphertext.note_read(18_000, &[large.as_slice(), &[0x17]].concat());
        ciphertext.note_decrypted();
        ciphertext.note_read(17_999, &[]);
        assert_eq!((ciphertext.undecrypted_bytes(), ciphertext.held_bytes()), (1, 18_000 - READ_BYTES));
    }

    #[test]
    fn r25_records_without_plain_text_count_up_to_a_bound() {
        let mut ciphertext = Ciphertext::default();
        for _ in 0..10_000 {
            ciphertext.note_read(READ_BYTES, &record(17));
        }
        assert_eq!(ciphertext.undecrypted_bytes(), MAX_HELD_BYTES);
        assert!(ciphertext.held_bytes() <= MAX_HELD_BYTES);
    }
}
