//! QR codes that lead to a link (D59).
//!
//! A code contains the link's address with `?src=qr`, which distinguishes its visits. The same link and
//! options give the same bytes, so a hash of them is a stable `ETag`.

use std::fmt::Write;

use fast_qr::{ECL, QRBuilder};

use crate::bitmap::{self, Depth};
use crate::colour::Rgb;
use crate::qr_options::{QrError, QrLevel, QrOptions};

/// A code, ready to draw.
#[derive(Debug)]
pub struct QrCode {
    /// Rows of modules, `true` for dark ones, without the quiet zone.
    rows: Vec<Vec<bool>>,
    size: u16,
    margin: u16,
    /// The modules of a side, with the quiet zone.
    modules: u16,
    color: Rgb,
    background: Rgb,
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

    /// The number of pixels from which on a module may have one more or less than its neighbour. With fewer, up to every
    /// second code cannot be read; with these, none of 1,000.
    const LEAST_FOR_UNEVEN_MODULES: u16 = 4;

    /// Encodes `text`.
    pub fn new(text: &str, options: QrOptions) -> Result<Self, QrError> {
        let QrOptions { size, level, margin, color, background } = options;
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
        if size < modules {
            return Err(QrError::TooSmall { least: modules });
        }
        Ok(Self { rows, size, margin, modules, color, background })
    }

    /// Draws the code as an SVG image: lines in its colour on the background.
    #[must_use]
    pub fn svg(&self) -> String {
        let Self { rows, size, margin, modules, color, background } = self;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{size}\" height=\"{size}\" viewBox=\"0 0 {modules} {modules}\" \
             shape-rendering=\"crispEdges\"><path fill=\"{background}\" d=\"M0 0h{modules}v{modules}H0z\"/>\
             <path stroke=\"{color}\" d=\""
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

    /// Draws the code as a PNG image of exactly the requested size. Each module ends at the whole pixel that is nearest to
    /// its end, so edges are sharp, the margin is exact, and modules differ by one pixel at most. Browsers draw the SVG
    /// image in the same way.
    ///
    /// If a module has less than four pixels, all have the same number, because readers fail on some codes otherwise. What
    /// remains widens the margin.
    #[must_use]
    pub fn png(&self) -> Vec<u8> {
        let Self { rows, size, margin, modules: _, color, background } = self;
        let side = usize::from(*size);
        let line_bytes = side.div_ceil(8);
        // A set bit is the background.
        let empty = vec![0xff_u8; line_bytes];
        let mut pixels = Vec::with_capacity(line_bytes * side);
        pixels.extend(empty.repeat(usize::from(self.edge(*margin))));
        for (row, y) in rows.iter().zip(*margin..) {
            let mut line = empty.clone();
            for (_, x) in row.iter().zip(*margin..).filter(|(is_dark, _)| **is_dark) {
                for pixel in usize::from(self.edge(x))..usize::from(self.edge(x + 1)) {
                    if let Some(byte) = line.get_mut(pixel / 8) {
                        *byte &= !(0x80 >> (pixel % 8));
                    }
                }
            }
            pixels.extend(line.repeat(usize::from(self.edge(y + 1) - self.edge(y))));
        }
        pixels.resize(line_bytes * side, 0xff);
        bitmap::png(*size, Depth::Two([*color, *background]), &pixels)
    }

    /// The pixel at which a module begins. The first module is the first of the margin.
    fn edge(&self, module: u16) -> u16 {
        let Self { size, modules, .. } = self;
        let whole = size.checked_div(*modules).unwrap_or_default();
        if whole < Self::LEAST_FOR_UNEVEN_MODULES {
            return (size - modules * whole) / 2 + module * whole;
        }
        let [module, size, modules] = [module, *size, *modules].map(u32::from);
        // At most the size, for a module of the code.
        u16::try_from((2 * module * size + modules) / (2 * modules)).unwrap_or(self.size).min(self.size)
    }
}

#[cfg(test)]
#[path = "qr_tests.rs"]
mod tests;
