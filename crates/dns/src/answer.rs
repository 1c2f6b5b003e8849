//! What counts as an answer, and what is read from it.

use hickory_resolver::proto::op::{Message, MessageType, Query, ResponseCode};
use hickory_resolver::proto::rr::{DNSClass, Name, RData, Record, RecordType};

use crate::failure::Failure;

/// A definite answer to one query (D42): records, or that there are none.
#[derive(Debug)]
pub(crate) struct Answer {
    asked: RecordType,
    /// Of the answer section, as they came; those for other names are among them.
    records: Vec<Record>,
}

impl Answer {
    /// What `message` says in answer to `query`.
    pub(crate) fn read(message: Message, query: &Query) -> Result<Self, Failure> {
        let Message { metadata, queries, answers, authorities, .. } = message;
        let is_for_us = metadata.message_type == MessageType::Response && queries == [query.clone()];
        if !is_for_us {
            return Err(Failure::Unfitting);
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
            // Something was answered, and it is not this. That is no "no".
            return Err(Failure::Unfitting);
        }
        let shows = |wanted| authorities.iter().any(|record| record.record_type() == wanted);
        let has_soa = shows(RecordType::SOA);
        let may_know = metadata.authoritative || metadata.recursion_available || has_soa;
        let is_referral =
            code == ResponseCode::NoError && !metadata.authoritative && !has_soa && shows(RecordType::NS);
        if may_know && !is_referral { Ok(answer) } else { Err(Failure::Lame) }
    }

    /// The record type that was asked for.
    pub(crate) const fn asked(&self) -> RecordType {
        self.asked
    }

    /// Whether it has an alias or the records for `name`.
    fn is_about(&self, name: &Name) -> bool {
        self.of(name).any(|data| matches!(data, RData::CNAME(_)) || data.record_type() == self.asked)
    }

    /// The names that `name` is an alias of; more than one against all rules.
    pub(crate) fn aliases(&self, name: &Name) -> impl Iterator<Item = &Name> {
        self.of(name).filter_map(|data| match data {
            RData::CNAME(target) => Some(&target.0),
            _ => None,
        })
    }

    /// The records at `name` of the type that was asked for.
    pub(crate) fn records(&self, name: &Name) -> impl Iterator<Item = &RData> {
        self.of(name).filter(|data| data.record_type() == self.asked)
    }

    fn of(&self, name: &Name) -> impl Iterator<Item = &RData> {
        // Names are equal whatever the case of their letters.
        self.records
            .iter()
            .filter(move |record| record.dns_class == DNSClass::IN && record.name == *name)
            .map(|record| &record.data)
    }
}
