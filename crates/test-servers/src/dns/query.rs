//! Parsing queries.

use super::zone::key;

/// A query with one question.
#[derive(Debug, Clone)]
pub(super) struct Query {
    pub(super) id: u16,
    /// The name.
    pub(super) name: String,
    /// The record type.
    pub(super) wanted: u16,
    /// The bytes of the question, which keep the case of its letters.
    pub(super) question: Vec<u8>,
    /// The maximum datagram that the client accepts.
    pub(super) max_datagram: usize,
    /// Whether the client uses EDNS.
    pub(super) has_edns: bool,
}

const HEADER: usize = 12;

impl Query {
    /// Parses a message of a client; `None` if it is not a query.
    pub(super) fn read(message: &[u8]) -> Option<Self> {
        let id = number(message, 0)?;
        let is_query = message.get(2)? & 0x80 == 0;
        if !is_query || number(message, 4)? != 1 {
            return None;
        }
        let mut labels: Vec<String> = Vec::new();
        let mut at = HEADER;
        loop {
            let length = usize::from(*message.get(at)?);
            at += 1;
            if length == 0 {
                break;
            }
            // The first name of a message cannot be compressed.
            let label = message.get(at..at + length).filter(|_| length < 64)?;
            labels.push(String::from_utf8_lossy(label).into_owned());
            at += length;
        }
        let wanted = number(message, at)?;
        let end = at + 4;
        let question = message.get(HEADER..end)?.to_vec();
        // The EDNS record has the root name, type 41, and the maximum length in place of a class.
        let has_edns = message.get(end..end + 3) == Some(&[0, 0, 41]);
        let max_datagram = if has_edns { usize::from(number(message, end + 3)?).max(512) } else { 512 };
        Some(Self { id, name: key(&labels.join(".")), wanted, question, max_datagram, has_edns })
    }
}

fn number(message: &[u8], at: usize) -> Option<u16> {
    message.get(at..at + 2)?.try_into().ok().map(u16::from_be_bytes)
}
