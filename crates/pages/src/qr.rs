//! QR codes that lead to a link (D59).
//!
//! A code contains the link's address with `?src=qr`, which distinguishes its visits. The same link and
//! options give the same bytes, so a hash of them is a stable `ETag`.

use std::fmt::Write;

use fast_qr::{ECL, QRBuilder};
use percent_encoding::percent_decode_str;

use crate::bitmap::{self, Depth};

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
    size: u16,
    level: QrLevel,
    margin: u8,
}

/// 512 pixels, level M, and the quiet zone of four modules that readers need.
impl Default for QrOptions {
    fn default() -> Self {
        Self { size: 512, level: QrLevel::default(), margin: 4 }
    }
}

/// Why no code can be drawn. The text says which parameter to change, and to what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
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

impl QrOptions {
    const SIZES: std::ops::RangeInclusive<u16> = 64..=2_048;
    const MARGINS: std::ops::RangeInclusive<u8> = 0..=16;

    /// Reads the options from the query string of a request, without its question mark. Other parameters are
    /// ignored, and the last of several values counts.
    ///
    /// ```
    /// use signpost_pages::{QrError, QrOptions};
    ///
    /// assert_eq!(QrOptions::from_query(""), Ok(QrOptions::default()));
    /// assert!(QrOptions::from_query("size=1024&level=H&margin=2").is_ok());
    /// assert_eq!(QrOptions::from_query("size=9000"), Err(QrError::Size));
    /// ```
    pub fn from_query(query: &str) -> Result<Self, QrError> {
        let mut options = Self::default();
        for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
            let [name, value] = [name, value].map(|text| percent_decode_str(text).decode_utf8_lossy());
            let value = value.as_ref();
            match name.as_ref() {
                "size" => options.size = whole_number(value, &Self::SIZES).ok_or(QrError::Size)?,
                "margin" => options.margin = whole_number(value, &Self::MARGINS).ok_or(QrError::Margin)?,
                "level" => {
                    options.level = match value {
                        "L" | "l" => QrLevel::Low,
                        "M" | "m" => QrLevel::Medium,
                        "Q" | "q" => QrLevel::Quartile,
                        "H" | "h" => QrLevel::High,
                        _ => return Err(QrError::Level),
                    }
                }
                _ => {}
            }
        }
        Ok(options)
    }
}

/// Digits only: no sign, no decimal point, no white space.
fn whole_number<T: std::str::FromStr + PartialOrd>(
    text: &str,
    range: &std::ops::RangeInclusive<T>,
) -> Option<T> {
    let number = text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())??;
    range.contains(&number).then_some(number)
}

/// A code, ready to draw.
#[derive(Debug)]
pub struct QrCode {
    /// Rows of modules, `true` for dark ones, without the quiet zone.
    rows: Vec<Vec<bool>>,
    size: u16,
    margin: u16,
    /// Pixels of one module.
    scale: u16,
}

impl QrCode {
    /// The content of a link's code: its address with the mark that counts its visits as `qr`.
    ///
    /// ```
    /// use signpost_pages::QrCode;
    ///
    /// assert_eq!(QrCode::marked("https://go.example.com/sale"), "https://go.example.com/sale?src=qr");
    /// ```
    #[must_use]
    pub fn marked(link: &str) -> String {
        format!("{link}?src=qr")
    }

    /// Encodes `text`.
    pub fn new(text: &str, options: QrOptions) -> Result<Self, QrError> {
        let QrOptions { size, level, margin } = options;
        let level = match level {
            QrLevel::Low => ECL::L,
            QrLevel::Medium => ECL::M,
            QrLevel::Quartile => ECL::Q,
            QrLevel::High => ECL::H,
        };
        let code = QRBuilder::new(text).ecl(level).build().map_err(|_| QrError::TooLong)?;
        let rows: Vec<Vec<bool>> = code
            .data
            .chunks(code.size)
            .take(code.size)
            .map(|row| row.iter().map(|module| module.value()).collect())
            .collect();
        let margin = u16::from(margin);
        // At most 177 modules and a margin of 16 on both sides.
        let modules = u16::try_from(code.size).map_err(|_| QrError::TooLong)?.saturating_add(2 * margin);
        match size.checked_div(modules) {
            Some(scale) if scale > 0 => Ok(Self { rows, size, margin, scale }),
            _ => Err(QrError::TooSmall { least: modules }),
        }
    }

    /// Draws the code as an SVG image: dark lines on white.
    #[must_use]
    pub fn svg(&self) -> String {
        let Self { rows, size, margin, scale: _ } = self;
        let modules = rows.len() + 2 * usize::from(*margin);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{size}\" height=\"{size}\" viewBox=\"0 0 {modules} {modules}\" \
             shape-rendering=\"crispEdges\"><path fill=\"#fff\" d=\"M0 0h{modules}v{modules}H0z\"/><path stroke=\"#000\" d=\""
        );
        for (row, y) in rows.iter().zip(usize::from(*margin)..) {
            let mut x = usize::from(*margin);
            for run in row.chunk_by(|one, next| one == next) {
                if run.first() == Some(&true) {
                    // Writing to a `String` cannot fail.
                    let _ = write!(svg, "M{x} {y}.5h{}", run.len());
                }
                x += run.len();
            }
        }
        svg.push_str("\"/></svg>");
        svg
    }

    /// Draws the code as a PNG image of exactly the requested size. A module is a whole number of pixels, so
    /// edges are sharp; the remainder widens the quiet zone.
    #[must_use]
    pub fn png(&self) -> Vec<u8> {
        let Self { rows, size, margin, scale } = self;
        let (size, scale) = (usize::from(*size), usize::from(*scale));
        let drawn = (rows.len() + 2 * usize::from(*margin)) * scale;
        let before = (size - drawn) / 2 + usize::from(*margin) * scale;
        let line_bytes = size.div_ceil(8);
        let white = vec![0xff_u8; line_bytes];
        let mut pixels = Vec::with_capacity(line_bytes * size);
        pixels.extend(white.repeat(before));
        for row in rows {
            let mut line = white.clone();
            for (_, column) in row.iter().zip(0..).filter(|(is_dark, _)| **is_dark) {
                let start = before + column * scale;
                for pixel in start..start + scale {
                    if let Some(byte) = line.get_mut(pixel / 8) {
                        *byte &= !(0x80 >> (pixel % 8));
                    }
                }
            }
            pixels.extend(line.repeat(scale));
        }
        pixels.resize(line_bytes * size, 0xff);
        bitmap::png(self.size, Depth::BlackOrWhite, &pixels)
    }
}

#[cfg(test)]
#[path = "qr_tests.rs"]
mod tests;
