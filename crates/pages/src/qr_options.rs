//! The parameters of a QR code (D59).

use std::ops::RangeInclusive;
use std::str::FromStr;

use percent_encoding::percent_decode_str;

use crate::colour::Rgb;

/// How much of a code may be lost before it becomes unreadable.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum QrLevel {
    /// `L`: 7 %.
    Low,
    /// `M`: 15 %.
    #[default]
    Medium,
    /// `Q`: 25 %.
    Quartile,
    /// `H`: 30 %.
    High,
}

/// How a code is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct QrOptions {
    pub(crate) size: u16,
    pub(crate) level: QrLevel,
    pub(crate) margin: u8,
    pub(crate) color: Rgb,
    pub(crate) background: Rgb,
}

/// 512 pixels, level M, black on white, and the quiet zone of four modules that readers need.
impl Default for QrOptions {
    fn default() -> Self {
        Self { size: 512, level: QrLevel::default(), margin: 4, color: Rgb::BLACK, background: Rgb::WHITE }
    }
}

/// The query of a request for a code.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QrQuery {
    /// How the code is drawn.
    pub options: QrOptions,
    /// Whether the browser saves the image instead of showing it.
    pub is_download: bool,
}

/// Why no code can be drawn. The text says which parameter to change, and to what.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QrError {
    /// `size` is out of bounds.
    #[error("`size` must be a whole number of pixels from 64 to 2048")]
    Size,
    /// `level` is not a known value.
    #[error("`level` must be L, M, Q or H")]
    Level,
    /// `margin` is out of bounds.
    #[error("`margin` must be a whole number of modules from 0 to 16")]
    Margin,
    /// `color` is not a colour.
    #[error("`color` must be six hexadecimal digits without `#`, such as 1a2b3c")]
    Color,
    /// `background` is not a colour.
    #[error("`background` must be six hexadecimal digits without `#`, such as ffffff")]
    Background,
    /// The code could not be told from its background.
    #[error("`color` must have a contrast of at least 3:1 to `background`; these have {tenths}:1", tenths = in_tenths(*hundredths))]
    Contrast {
        /// The contrast, in hundredths.
        hundredths: u16,
    },
    /// `download` is not `1`.
    #[error("`download` must be 1, or be left out")]
    Download,
    /// A parameter that no code has.
    #[error(
        "`{name}` is not a parameter of a QR code; use `size`, `margin`, `level`, `color`, `background` and `download`"
    )]
    Unknown {
        /// The beginning of its name.
        name: String,
    },
    /// A module would be smaller than a pixel.
    #[error("`size` must be at least {least} for this code, or `margin` or `level` lower")]
    TooSmall {
        /// The minimum size that holds the code.
        least: u16,
    },
    /// The text is longer than a code can hold.
    #[error("the address is too long for a QR code of this `level`")]
    TooLong,
}

/// The contrast that D59 asks for, in hundredths.
const LEAST_CONTRAST: u16 = 300;

/// The maximum length of an unknown name in an error, in characters.
const MAX_NAME: usize = 40;

impl QrQuery {
    const SIZES: RangeInclusive<u16> = 64..=2_048;
    const MARGINS: RangeInclusive<u8> = 0..=16;

    /// Reads the query string of a request, without its question mark. The last of several values counts.
    ///
    /// ```
    /// use signpost_pages::{QrError, QrOptions, QrQuery};
    ///
    /// assert_eq!(QrQuery::parse("").unwrap().options, QrOptions::default());
    /// assert!(QrQuery::parse("size=1024&level=H&margin=2&color=1a2b3c&download=1").unwrap().is_download);
    /// assert_eq!(QrQuery::parse("size=9000"), Err(QrError::Size));
    /// assert_eq!(QrQuery::parse("colour=red"), Err(QrError::Unknown { name: "colour".to_owned() }));
    /// ```
    ///
    /// # Errors
    /// The first parameter that is unknown or out of bounds; then the contrast of the colours.
    pub fn parse(query: &str) -> Result<Self, QrError> {
        let mut options = QrOptions::default();
        let mut is_download = false;
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let [name, value] = [name, value].map(|text| percent_decode_str(text).decode_utf8_lossy());
            let value = value.as_ref();
            match name.as_ref() {
                "size" => options.size = whole_number(value, &Self::SIZES).ok_or(QrError::Size)?,
                "margin" => options.margin = whole_number(value, &Self::MARGINS).ok_or(QrError::Margin)?,
                "level" => options.level = level(value).ok_or(QrError::Level)?,
                "color" => options.color = Rgb::from_digits(value).ok_or(QrError::Color)?,
                "background" => options.background = Rgb::from_digits(value).ok_or(QrError::Background)?,
                "download" if value == "1" => is_download = true,
                "download" => return Err(QrError::Download),
                other => {
                    let shown = other.chars().filter(|character| !character.is_control());
                    return Err(QrError::Unknown { name: shown.take(MAX_NAME).collect() });
                }
            }
        }
        match options.color.contrast_in_hundredths(options.background) {
            hundredths if hundredths < LEAST_CONTRAST => Err(QrError::Contrast { hundredths }),
            _ => Ok(Self { options, is_download }),
        }
    }
}

fn level(text: &str) -> Option<QrLevel> {
    match text {
        "L" | "l" => Some(QrLevel::Low),
        "M" | "m" => Some(QrLevel::Medium),
        "Q" | "q" => Some(QrLevel::Quartile),
        "H" | "h" => Some(QrLevel::High),
        _ => None,
    }
}

/// Digits only: no sign, no decimal point, no white space.
fn whole_number<T: FromStr + PartialOrd>(text: &str, range: &RangeInclusive<T>) -> Option<T> {
    let number = text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())??;
    range.contains(&number).then_some(number)
}

/// The number with one decimal place, rounded down: a contrast that is too low never reads as sufficient.
fn in_tenths(hundredths: u16) -> String {
    format!("{}.{}", hundredths / 100, hundredths % 100 / 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d59_parameters_have_bounds() {
        for query in [
            "size=64",
            "size=2048",
            "margin=0",
            "margin=16",
            "level=l",
            "level=%4C",
            "&&",
            "color=AbCdEf&background=000000",
            "color=949494",
            "download=1&level=H",
            "size=100&size=200",
        ] {
            assert!(QrQuery::parse(query).is_ok(), "{query}");
        }
        for (query, error) in [
            ("size", QrError::Size),
            ("size=63", QrError::Size),
            ("size=2049", QrError::Size),
            ("size=-1", QrError::Size),
            ("size=+64", QrError::Size),
            ("size=", QrError::Size),
            ("size=64.0", QrError::Size),
            ("size=99999999999999999999", QrError::Size),
            ("margin=17", QrError::Margin),
            ("margin=256", QrError::Margin),
            ("margin=a", QrError::Margin),
            ("level=X", QrError::Level),
            ("level=", QrError::Level),
            ("level=%58", QrError::Level),
            ("%6Cevel=X", QrError::Level),
            ("size=100&size=1", QrError::Size),
            ("color=", QrError::Color),
            ("color=%231a2b3c", QrError::Color),
            ("color=1a2b3", QrError::Color),
            ("color=+1a2b3", QrError::Color),
            ("color=red", QrError::Color),
            ("background=fffffff", QrError::Background),
            ("background=üüü", QrError::Background),
            ("color=ffffff", QrError::Contrast { hundredths: 100 }),
            ("color=959595", QrError::Contrast { hundredths: 299 }),
            ("background=404040", QrError::Contrast { hundredths: 202 }),
            ("download", QrError::Download),
            ("download=0", QrError::Download),
            ("download=true", QrError::Download),
        ] {
            assert_eq!(QrQuery::parse(query), Err(error), "{query}");
        }
    }

    #[test]
    fn d59_unknown_parameters_are_refused_by_name() {
        let long = "x".repeat(41);
        for (query, name) in [
            ("v=3", "v"),
            ("size=100&Size=100", "Size"),
            ("src=qr&level=H", "src"),
            ("colour", "colour"),
            ("=1", ""),
            ("a%0Ab%1B=1", "ab"),
            (long.as_str(), &long[..40]),
        ] {
            assert_eq!(QrQuery::parse(query), Err(QrError::Unknown { name: name.to_owned() }), "{query}");
        }
        let message = QrQuery::parse("colour=red").unwrap_err().to_string();
        assert!(
            message.starts_with("`colour` is not a parameter") && message.contains("`color`"),
            "{message}"
        );
    }

    #[test]
    fn d59_low_contrast_is_refused_with_its_figure() {
        let message = QrQuery::parse("color=959595").unwrap_err().to_string();
        assert!(message.ends_with("these have 2.9:1"), "{message}");
    }
}
