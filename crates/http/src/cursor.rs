//! Cursors: sealed positions in lists, which callers send back unchanged (contract "Pagination rules", D11).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use signpost_domain::{AccountId, FieldError, PagePosition, ViolationCode};

/// The format of the bytes below. A new format gets a new number, so that cursors of the old format are refused.
const VERSION: u8 = 1;

const POSITION_BYTES: usize = 16;
const CHECKSUM_BYTES: usize = 16;

/// Version, position and checksum. The length is a multiple of three, so that the text has no unused bits.
const BYTES: usize = 1 + POSITION_BYTES + CHECKSUM_BYTES;

/// The longest text that is parsed as a cursor (contract, Limits); ours have 44 characters.
pub(crate) const MOST_CHARACTERS: u64 = 512;

/// The scope of a cursor: an account, a list, and the filter of that list. The page size is not part of it and may change
/// between pages.
#[derive(Clone)]
pub(crate) struct CursorScope(Sha256);

impl CursorScope {
    /// The scope of an account's list without filters.
    pub(crate) fn new(account: AccountId, list: &str) -> Self {
        let mut scope = Self(Sha256::new());
        scope.0.update([VERSION]);
        scope.0.update(account.to_bytes());
        scope.part(list.as_bytes());
        scope
    }

    /// Adds a filter to the scope. A list adds all of its filters in a fixed order, also those that the caller left out.
    pub(crate) fn filtered_by(mut self, name: &str, value: Option<&[u8]>) -> Self {
        self.part(name.as_bytes());
        match value {
            None => self.0.update([0]),
            Some(value) => {
                self.0.update([1]);
                self.part(value);
            }
        }
        self
    }

    /// Adds a length-prefixed part, so that different sequences of parts never have the same bytes.
    fn part(&mut self, bytes: &[u8]) {
        self.0.update(bytes.len().to_be_bytes());
        self.0.update(bytes);
    }

    /// The cursor of a position in the list.
    pub(crate) fn seal(&self, position: PagePosition) -> String {
        let position_bytes = position.to_bytes();
        let mut bytes = Vec::with_capacity(BYTES);
        bytes.push(VERSION);
        bytes.extend_from_slice(&position_bytes);
        bytes.extend_from_slice(&self.checksum(position_bytes));
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The position of a cursor that was sealed in this scope and is unchanged.
    pub(crate) fn open(&self, cursor: SealedCursor) -> Option<PagePosition> {
        let SealedCursor { position, checksum } = cursor;
        (self.checksum(position) == checksum).then(|| PagePosition::behind(position))
    }

    fn checksum(&self, position: [u8; POSITION_BYTES]) -> [u8; CHECKSUM_BYTES] {
        let digest = self.0.clone().chain_update(position).finalize();
        std::array::from_fn(|index| digest.get(index).copied().unwrap_or_default())
    }
}

/// The error of a text that is no cursor of the list and the filter.
pub(crate) fn foreign_cursor() -> FieldError {
    let message = "does not belong to this list and filter; send `next_cursor` back unchanged";
    FieldError::new(ViolationCode::InvalidFormat, message)
}

/// A well-formed cursor that is not yet verified by [`CursorScope::open`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SealedCursor {
    position: [u8; POSITION_BYTES],
    checksum: [u8; CHECKSUM_BYTES],
}

impl SealedCursor {
    /// Parses a text.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let bytes: [u8; BYTES] = URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()?;
        let (version, rest) = bytes.split_first()?;
        let (position, checksum) = rest.split_first_chunk()?;
        (*version == VERSION).then_some(Self { position: *position, checksum: checksum.try_into().ok()? })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn scope() -> CursorScope {
        CursorScope::new(AccountId::from_bytes([7; 16]), "redirects")
    }

    fn open(scope: &CursorScope, text: &str) -> Option<PagePosition> {
        SealedCursor::parse(text).and_then(|cursor| scope.open(cursor))
    }

    #[test]
    fn d11_a_cursor_opens_only_where_it_was_sealed() {
        let position = PagePosition::behind([9; 16]);
        let account = AccountId::from_bytes([7; 16]);
        let scopes = [
            scope(),
            CursorScope::new(AccountId::from_bytes([8; 16]), "redirects"),
            CursorScope::new(account, "groups"),
            scope().filtered_by("q", None),
            scope().filtered_by("q", Some(b"")),
            scope().filtered_by("q", Some(b"ab")),
            scope().filtered_by("qa", Some(b"b")),
            scope().filtered_by("q", Some(b"ab")).filtered_by("d", None),
            scope().filtered_by("q", None).filtered_by("d", Some(b"ab")),
        ];
        for (sealed_in, sealing) in scopes.iter().enumerate() {
            let cursor = sealing.seal(position);
            for (opened_in, opening) in scopes.iter().enumerate() {
                let expected = (sealed_in == opened_in).then_some(position);
                assert_eq!(open(opening, &cursor), expected, "{sealed_in} in {opened_in}");
            }
        }
    }

    #[test]
    fn d11_texts_that_are_no_cursors_are_refused() {
        let good = scope().seal(PagePosition::behind([9; 16]));
        for bad in
            ["", "1", "null", "🦀", &good[1..], &format!("{good}A"), &format!("{good}="), &good.repeat(2)]
        {
            assert_eq!(open(&scope(), bad), None, "{bad}");
        }
    }

    /// R35: ten thousand flipped bits, all refused.
    #[test]
    fn d11_a_cursor_with_any_bit_changed_is_refused() {
        let mut refused = 0;
        for seed in 0_u8..29 {
            let cursor = scope().seal(PagePosition::behind([seed.wrapping_mul(37); 16]));
            for byte in 0..cursor.len() {
                for bit in 0..8 {
                    let mut changed = cursor.clone().into_bytes();
                    changed[byte] ^= 1 << bit;
                    let Ok(changed) = String::from_utf8(changed) else {
                        // A query parameter cannot carry invalid UTF-8.
                        refused += 1;
                        continue;
                    };
                    assert_eq!(open(&scope(), &changed), None, "{changed}");
                    refused += 1;
                }
            }
        }
        assert!(refused >= 10_000, "{refused}");
    }

    proptest! {
        #[test]
        fn d11_every_position_reads_back_from_a_url_safe_text(position in any::<[u8; 16]>()) {
            let position = PagePosition::behind(position);
            let cursor = scope().seal(position);
            prop_assert!(u64::try_from(cursor.len()).unwrap() <= MOST_CHARACTERS);
            prop_assert!(cursor.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)));
            prop_assert_eq!(open(&scope(), &cursor), Some(position));
        }

        #[test]
        fn d11_changed_bytes_are_refused(position in any::<[u8; 16]>(), at in 0..BYTES, by in 1..=255_u8) {
            let cursor = scope().seal(PagePosition::behind(position));
            let mut bytes = URL_SAFE_NO_PAD.decode(cursor).unwrap();
            bytes[at] ^= by;
            prop_assert_eq!(open(&scope(), &URL_SAFE_NO_PAD.encode(bytes)), None);
        }
    }
}
