//! Decides whether a message is an answer, and reads it.

use hickory_resolver::proto::op::{Message, MessageType, Query, ResponseCode};
use hickory_resolver::proto::rr::{DNSClass, Name, RData, Record, RecordType};

use crate::failure::Failure;

/// A definite answer to one query (D42): records, or that there are none.
#[derive(Debug)]
pub(crate) struct Answer {
    asked: RecordType,
    /// The answer section in its original order, including records for other names.
    records: Vec<Record>,
}

impl Answer {
    /// Reads `message` as the answer to `query`.
    pub(crate) fn read(message: Message, query: &Query) -> Result<Self, Failure> {
        let Message { metadata, queries, answers, authorities, .. } = message;
        let is_for_us = metadata.message_type == MessageType::Response && queries == [query.clone()];
        if !is_for_us {
            return Err(Failure::Mismatched);
        }
        if metadata.truncation {
            return Err(Failure::Truncated);
        }
        let code = metadata.response_code;
        if !matches!(code, ResponseCode::NoError | ResponseCode::NXDomain) {
            return Err(Failure::Code(code));
        }
        let asked = query.query_type();
        let answer = Self { asked, records: answers };
        if answer.is_about(query.name()) {
            return Ok(answer);
        }
        if !answer.records.is_empty() {
            // The server answered something else, which is not a "no".
            return Err(Failure::Mismatched);
        }
        let shows = |wanted| authorities.iter().any(|record| record.record_type() == wanted);
        let has_soa = shows(RecordType::SOA);
        let may_know = metadata.authoritative || metadata.recursion_available || has_soa;
        let is_referral =
            code == ResponseCode::NoError && !metadata.authoritative && !has_soa && shows(RecordType::NS);
        if may_know && !is_referral { Ok(answer) } else { Err(Failure::Lame) }
    }

    /// The requested record type.
    pub(crate) const fn asked(&self) -> RecordType {
        self.asked
    }

    /// Whether it has an alias or the requested records for `name`.
    fn is_about(&self, name: &Name) -> bool {
        self.of(name).any(|data| matches!(data, RData::CNAME(_)) || data.record_type() == self.asked)
    }

    /// The targets of `name` as an alias. Several would violate the standard.
    pub(crate) fn aliases(&self, name: &Name) -> impl Iterator<Item = &Name> {
        self.of(name).filter_map(|data| match data {
            RData::CNAME(target) => Some(&target.0),
            _ => None,
        })
    }

    /// The records of the requested type at `name`.
    pub(crate) fn records(&self, name: &Name) -> impl Iterator<Item = &RData> {
        self.of(name).filter(|data| data.record_type() == self.asked)
    }

    fn of(&self, name: &Name) -> impl Iterator<Item = &RData> {
        // Names compare case-insensitively.
        self.records
            .iter()
            .filter(move |record| record.dns_class == DNSClass::IN && record.name == *name)
            .map(|record| &record.data)
    }
}
