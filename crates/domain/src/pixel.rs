//! Pixels: vendors' tracking codes that fire when a redirect is visited (contract "Redirect", D36).

use std::collections::HashSet;

use crate::id::PixelId;
use crate::pixel_type::PixelType;
use crate::stored::{self, MalformedStored};
use crate::text::Name;
use crate::timestamp::Timestamp;
use crate::violation::{FieldError, ViolationCode};

/// A pixel of an account. It is immutable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pixel {
    /// Its id.
    pub id: PixelId,
    /// The vendor and its code for the pixel.
    pub code: PixelCode,
    /// Its name, which only the account sees.
    pub name: Option<Name>,
    /// When it was created.
    pub created_at: Timestamp,
}

/// A vendor's code for a pixel. It has that vendor's format, so it cannot break out of the script that
/// contains it.
///
/// ```
/// use signpost_domain::{PixelCode, PixelType};
///
/// assert!(PixelCode::parse(PixelType::GoogleTag, "G-1A2BCD345E").is_ok());
/// assert!(PixelCode::parse(PixelType::Meta, "1');alert('").is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PixelCode {
    pixel_type: PixelType,
    code: String,
}

impl PixelCode {
    /// Reads a code of a vendor.
    ///
    /// # Errors
    /// `invalid_format` if it does not have the vendor's format.
    pub fn parse(pixel_type: PixelType, code: &str) -> Result<Self, FieldError> {
        pixel_type.accepts(code)?;
        Ok(Self { pixel_type, code: code.to_owned() })
    }

    /// Reads a stored code of letters, digits, `-` and `_`, so that it cannot break out of a script.
    pub fn from_stored(pixel_type: PixelType, code: String) -> Result<Self, MalformedStored> {
        let code = stored::some_line(code)?;
        if code.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')) {
            Ok(Self { pixel_type, code })
        } else {
            Err(MalformedStored("has a character that no pixel's code has"))
        }
    }

    /// The vendor.
    #[must_use]
    pub const fn pixel_type(&self) -> PixelType {
        self.pixel_type
    }

    /// The code.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.code
    }
}

/// The pixels of a redirect: at most ten, each once, in the given order (D36).
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct PixelIds(Vec<PixelId>);

impl PixelIds {
    /// The maximum number of pixels of a redirect.
    pub const MAX: usize = 10;

    /// These pixels. A repeated pixel keeps its first position.
    ///
    /// # Errors
    /// `too_many_items` above [`Self::MAX`].
    pub fn new(ids: Vec<PixelId>) -> Result<Self, FieldError> {
        let ids = each_once(ids);
        if ids.len() > Self::MAX {
            return Err(FieldError::new(ViolationCode::TooManyItems, "must have at most 10 items"));
        }
        Ok(Self(ids))
    }

    /// Reads stored pixels, perhaps more than the current rule allows.
    pub fn from_stored(ids: Vec<PixelId>) -> Result<Self, MalformedStored> {
        stored::items(ids).map(each_once).map(Self)
    }

    /// The ids, in order.
    #[must_use]
    pub fn as_slice(&self) -> &[PixelId] {
        &self.0
    }

    /// Keeps the ids for which the filter returns `true`, in order.
    #[must_use]
    pub fn filtered(&self, mut is_kept: impl FnMut(PixelId) -> bool) -> Self {
        Self(self.0.iter().copied().filter(|id| is_kept(*id)).collect())
    }
}

fn each_once(mut ids: Vec<PixelId>) -> Vec<PixelId> {
    let mut seen = HashSet::new();
    ids.retain(|id| seen.insert(*id));
    ids
}

#[cfg(test)]
#[path = "pixel_tests.rs"]
mod tests;
