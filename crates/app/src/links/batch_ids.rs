//! The ids of a batch (D31).

use std::collections::HashSet;

use signpost_domain::{
    Batch, FieldError, Id, IdReference, LinkId, LinkIdKind, LinkKind, Refusal, Rejection, ViolationCode,
    Violations,
};

/// Reads the ids of a batch one by one. Every repetition of an id is refused.
pub(crate) fn read_each<T>(
    ids: &Batch<String>,
    read: impl Fn(usize, &str) -> Result<T, Rejection>,
) -> Vec<Result<T, Rejection>> {
    let mut seen = HashSet::with_capacity(ids.len());
    ids.iter()
        .enumerate()
        .map(
            |(index, id)| {
                if seen.insert(id.as_str()) {
                    read(index, id)
                } else {
                    Err(Refusal::DuplicateIdInBatch.into())
                }
            },
        )
        .collect()
}

/// The id of a link of one kind. A malformed id matches nothing (D2).
pub(crate) fn of_kind<K: LinkIdKind>(text: &str) -> Result<Id<K>, Rejection> {
    IdReference::parse(text).id().ok_or_else(|| K::LINK_KIND.not_found().into())
}

/// The id of a link of either kind, in `field`. A malformed id with the prefix of a kind gets that kind's `…NotFound`. Any
/// other malformed id is a violation.
pub(crate) fn of_any_kind(text: &str, field: impl FnOnce() -> String) -> Result<LinkId, Rejection> {
    text.parse().map_err(|_| {
        if let Some(kind) = LinkKind::of_prefix(text) {
            return kind.not_found().into();
        }
        let error = FieldError::new(
            ViolationCode::InvalidFormat,
            "must be the id of a landing page (`lnd_…`) or of a redirect (`rdr_…`)",
        );
        Rejection::Invalid(Violations::from(error.at(field())))
    })
}
