//! Splits: several targets that share the visitors of a rule (D134).

#[cfg(feature = "routing")]
use std::hash::Hasher as _;
#[cfg(feature = "routing")]
use std::net::IpAddr;

use super::names::{RuleName, Weight};
use crate::stored::{self, MalformedStored};
use crate::target_url::TargetUrl;

/// One of the targets of a split.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// Its name, unique in the split.
    pub name: RuleName,
    /// Where its visitors are sent.
    pub target_url: TargetUrl,
    /// Its share of the visitors.
    pub weight: Weight,
}

/// Two to ten targets that share visitors by their weights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split(Vec<Variant>);

impl Split {
    /// The smallest number of variants.
    pub const MIN: usize = 2;

    /// The largest number of variants.
    pub const MAX: usize = 10;

    /// A split among these variants. Nothing judges them: requests do.
    #[must_use]
    pub const fn new(variants: Vec<Variant>) -> Self {
        Self(variants)
    }

    /// Stored variants, at least one, perhaps more than the current rule allows.
    pub fn from_stored(variants: Vec<Variant>) -> Result<Self, MalformedStored> {
        if variants.is_empty() { Err(MalformedStored("is empty")) } else { stored::items(variants).map(Self) }
    }

    /// The variants, in order.
    #[must_use]
    pub fn as_slice(&self) -> &[Variant] {
        &self.0
    }

    /// The sum of the weights.
    #[must_use]
    pub fn total_weight(&self) -> u32 {
        self.0.iter().map(|variant| u32::from(variant.weight.get())).sum()
    }

    /// The variant that has a slot: each has as many as its weight, in order. `None` from [`Self::total_weight`] on.
    #[must_use]
    pub fn variant_at(&self, slot: u32) -> Option<&Variant> {
        let mut end = 0;
        self.0.iter().find(|variant| {
            end += u32::from(variant.weight.get());
            slot < end
        })
    }
}

/// What tells apart how the splits of links share the same visitors: 16 bytes, drawn when a redirect gets rules, and kept with them.
/// Every node has them, so every node sends a visitor to the same variant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct SplitKey([u8; 16]);

impl SplitKey {
    /// The field in files of links.
    pub const FIELD: &'static str = "split_key";

    /// The key with these bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The bytes.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0
    }

    /// Reads 32 hexadecimal digits in lower case; `None` for any other text.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() != 32 || !text.bytes().all(is_digit) {
            return None;
        }
        u128::from_str_radix(text, 16).ok().map(|number| Self(number.to_be_bytes()))
    }

    /// The bytes as 32 hexadecimal digits in lower case.
    #[must_use]
    pub fn to_hex(self) -> String {
        format!("{:032x}", u128::from_be_bytes(self.0))
    }

    /// The slot of a visitor: `SipHash` 2-4 of the address and the agent, modulo the sum of the weights. Of an IPv6 address only the
    /// first 64 bits count, because devices change the others by themselves. An unknown address is the same for all visitors. 0 if the
    /// sum is 0.
    #[cfg(feature = "routing")]
    #[must_use]
    pub fn slot(self, address: Option<IpAddr>, agent: &[u8], total_weight: u32) -> u32 {
        let mut hasher = siphasher::sip::SipHasher24::new_with_key(&self.0);
        match address.map(|address| address.to_canonical()) {
            // The number of bytes comes first, so that no agent begins with what looks like an address.
            None => hasher.write(&[0]),
            Some(IpAddr::V4(address)) => {
                hasher.write(&[4]);
                hasher.write(&address.octets());
            }
            Some(IpAddr::V6(address)) => {
                let [first, second, third, fourth, ..] = address.segments();
                hasher.write(&[8]);
                for segment in [first, second, third, fourth] {
                    hasher.write(&segment.to_be_bytes());
                }
            }
        }
        hasher.write(agent);
        let slot = hasher.finish().checked_rem(u64::from(total_weight)).unwrap_or_default();
        u32::try_from(slot).unwrap_or_default()
    }
}
