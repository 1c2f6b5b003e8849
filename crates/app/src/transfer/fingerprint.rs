//! Fingerprints of records, and the slugs that records without a slug get.

use sha2::{Digest, Sha256};
use signpost_domain::{AccountId, Slug};

use super::fields::Field;
use super::record::{FieldValue, Record};

/// How many slugs are tried for a record before it fails.
pub(super) const SLUG_ATTEMPTS: u8 = 10;

/// A hash of a record's fields, which identifies a record without id and slug. The record's slug is derived from it instead
/// of random bytes, so that a second import of the record finds the same link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// The fingerprint of a record. It ignores the id, the two dates, what visits have used up, and the password: slugs are public, so
    /// nothing in them may depend on it.
    pub(super) fn of(record: &Record) -> Self {
        let mut hash = Sha256::new();
        // Sorted by name, so that the fingerprints of old files do not depend on the order of declaration.
        let mut fields = Field::ALL;
        fields.sort_unstable_by_key(|field| field.name());
        for field in fields {
            let Some(value) = record.get(field) else { continue };
            let value = match (field, value) {
                (
                    Field::Id
                    | Field::CreatedAt
                    | Field::UpdatedAt
                    | Field::ClicksLeft
                    | Field::HasPassword
                    | Field::Password
                    | Field::SplitKey,
                    _,
                )
                | (_, FieldValue::Null | FieldValue::Unfit) => continue,
                (_, FieldValue::Flag(flag)) => flag.to_string(),
                (_, FieldValue::Number(number)) => number.to_string(),
                (_, FieldValue::Text(text) | FieldValue::Json(text)) => text.clone(),
                (_, FieldValue::Countries(items) | FieldValue::Names(items)) => items.join(","),
            };
            for part in [field.name(), &value] {
                // With its length, so that different fields never concatenate to the same bytes.
                hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
                hash.update(part);
            }
        }
        Self(hash.finalize().into())
    }

    /// The slug to try at the given attempt, from 0 on.
    pub(super) fn slug(self, account: AccountId, attempt: u8) -> Slug {
        let Self(fingerprint) = self;
        let hash: [u8; 32] = Sha256::new()
            .chain_update(account.to_bytes())
            .chain_update(fingerprint)
            .chain_update([attempt])
            .finalize()
            .into();
        let mut random = [0; 16];
        for (byte, hashed) in random.iter_mut().zip(hash) {
            *byte = hashed;
        }
        Slug::from_random(random)
    }
}

#[cfg(test)]
mod tests {
    use signpost_domain::Id;

    use super::*;

    fn record(fields: &[(Field, &str)]) -> Record {
        let mut record = Record::default();
        for (field, text) in fields {
            record.set(*field, FieldValue::Text((*text).to_owned()));
        }
        record
    }

    /// Imports find old links by it, so it must never change.
    #[test]
    fn slug_of_a_record_never_changes() {
        let target = (Field::TargetUrl, "https://example.com/");
        let fingerprint = Fingerprint::of(&record(&[target]));
        let account = Id::from_bytes([7; 16]);
        assert_eq!(fingerprint.slug(account, 0).as_str(), "jJMptyW");
        assert_ne!(fingerprint.slug(account, 1), fingerprint.slug(account, 0));
        assert_ne!(fingerprint.slug(Id::from_bytes([8; 16]), 0), fingerprint.slug(account, 0));
    }

    #[test]
    fn fingerprint_covers_every_field_except_id_dates_and_password() {
        let target = (Field::TargetUrl, "https://example.com/");
        let plain = Fingerprint::of(&record(&[target]));
        for field in [Field::Id, Field::CreatedAt, Field::UpdatedAt, Field::HasPassword, Field::Password] {
            assert_eq!(Fingerprint::of(&record(&[target, (field, "x")])), plain);
        }
        assert_ne!(Fingerprint::of(&record(&[target, (Field::Name, "x")])), plain);
        let (longer, shorter) = ([target, (Field::Name, "xy")], [target, (Field::Name, "x")]);
        assert_ne!(Fingerprint::of(&record(&longer)), Fingerprint::of(&record(&shorter)));
    }
}
