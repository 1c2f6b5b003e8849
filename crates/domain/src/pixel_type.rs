//! The vendors of pixels, and the formats of their codes (D36).

use crate::stored::MalformedStored;
use crate::violation::{FieldError, ViolationCode};

/// The vendor of a pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PixelType {
    /// Google tag: Analytics, Ads, Campaign Manager.
    GoogleTag,
    /// Google Tag Manager.
    GoogleTagManager,
    /// Meta.
    Meta,
    /// `TikTok`.
    Tiktok,
    /// `LinkedIn` Insight Tag.
    Linkedin,
    /// X.
    X,
    /// Pinterest.
    Pinterest,
    /// Snapchat.
    Snapchat,
    /// Reddit.
    Reddit,
    /// Microsoft Advertising (UET).
    MicrosoftAds,
}

/// The format of a vendor's codes.
struct CodeFormat {
    /// A code begins with one of these.
    prefixes: &'static [&'static str],
    /// The alphabet of the rest.
    is_made_so: fn(&str) -> bool,
    /// The minimum and maximum length of the rest in bytes.
    length: (usize, usize),
    /// An example, for error messages.
    example: &'static str,
}

fn upper_or_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
}

fn lower_or_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

fn digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Hexadecimal digits of either case, in the groups of a UUID.
fn uuid(text: &str) -> bool {
    let groups = text.split('-');
    groups.clone().map(str::len).eq([8, 4, 4, 4, 12])
        && groups.flat_map(str::bytes).all(|byte| byte.is_ascii_hexdigit())
}

impl PixelType {
    /// All types.
    pub const ALL: [Self; 10] = [
        Self::GoogleTag,
        Self::GoogleTagManager,
        Self::Meta,
        Self::Tiktok,
        Self::Linkedin,
        Self::X,
        Self::Pinterest,
        Self::Snapchat,
        Self::Reddit,
        Self::MicrosoftAds,
    ];

    /// The name in requests and answers.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::GoogleTag => "google_tag",
            Self::GoogleTagManager => "google_tag_manager",
            Self::Meta => "meta",
            Self::Tiktok => "tiktok",
            Self::Linkedin => "linkedin",
            Self::X => "x",
            Self::Pinterest => "pinterest",
            Self::Snapchat => "snapchat",
            Self::Reddit => "reddit",
            Self::MicrosoftAds => "microsoft_ads",
        }
    }

    /// The type of this name.
    ///
    /// # Errors
    /// `invalid_value` for an unknown name.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        Self::named(text).ok_or_else(|| {
            let names = Self::ALL.map(Self::as_str).join(", ");
            FieldError::new(ViolationCode::InvalidValue, format!("must be one of {names}"))
        })
    }

    /// Reads a stored type.
    pub fn from_stored(text: &str) -> Result<Self, MalformedStored> {
        Self::named(text).ok_or(MalformedStored("is not a type of pixel"))
    }

    fn named(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// Vendors document the characters of their codes, but seldom the length, so the lengths are lenient. No
    /// format has a character with a special meaning in a script, a page or a URL.
    const fn code_format(self) -> CodeFormat {
        const fn format(
            prefixes: &'static [&'static str],
            is_made_so: fn(&str) -> bool,
            length: (usize, usize),
            example: &'static str,
        ) -> CodeFormat {
            CodeFormat { prefixes, is_made_so, length, example }
        }
        match self {
            Self::GoogleTag => format(&["G-", "GT-", "AW-", "DC-"], upper_or_digits, (4, 20), "G-1A2BCD345E"),
            Self::GoogleTagManager => format(&["GTM-"], upper_or_digits, (4, 12), "GTM-AB12CDE"),
            Self::Meta => format(&[""], digits, (5, 20), "123456789012345"),
            Self::Tiktok => format(&[""], upper_or_digits, (10, 32), "C4A1B2C3D4E5F6G7H8I9"),
            Self::Linkedin => format(&[""], digits, (3, 12), "1234567"),
            Self::X => format(&[""], lower_or_digits, (4, 12), "o1abc"),
            Self::Pinterest => format(&[""], digits, (8, 20), "2612345678901"),
            Self::Snapchat => format(&[""], uuid, (36, 36), "1a2b3c4d-1234-5678-9abc-1a2b3c4d5e6f"),
            Self::Reddit => format(&["t2_", "a2_"], lower_or_digits, (3, 16), "t2_1ab2cd3e"),
            Self::MicrosoftAds => format(&[""], digits, (5, 12), "12345678"),
        }
    }

    /// Whether `code` has the format of this vendor's codes.
    pub(crate) fn accepts(self, code: &str) -> Result<(), FieldError> {
        let CodeFormat { prefixes, is_made_so, length: (least, most), example } = self.code_format();
        let is_code = prefixes
            .iter()
            .filter_map(|prefix| code.strip_prefix(prefix))
            .any(|rest| (least..=most).contains(&rest.len()) && is_made_so(rest));
        if is_code {
            return Ok(());
        }
        let message = format!("must be a code of the type {}, such as {example}", self.as_str());
        Err(FieldError::new(ViolationCode::InvalidFormat, message))
    }
}
