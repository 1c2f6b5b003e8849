//! The icon of sites whose pages name none: a signpost, white on the green of road signs.

use crate::bitmap::{self, Depth};
use crate::palette::SIGN_GREEN;

/// The icon of a site, in the sizes that browsers request automatically.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SiteIcon {
    /// `/favicon.ico`.
    Favicon,
    /// `/apple-touch-icon.png` and its variants. The device rounds its corners.
    Touch,
}

impl SiteIcon {
    /// The `Content-Type`.
    #[must_use]
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Favicon => "image/vnd.microsoft.icon",
            Self::Touch => "image/png",
        }
    }

    /// Draws the image. Each call draws the same image again, so callers that send it often should cache it.
    #[must_use]
    pub fn draw(self) -> Vec<u8> {
        match self {
            Self::Favicon => in_ico(&draw(FAVICON_SIDE.into(), true)),
            Self::Touch => draw(180, false),
        }
    }
}

const FAVICON_SIDE: u8 = 32;

/// Wraps a PNG image in an ICO file.
fn in_ico(png: &[u8]) -> Vec<u8> {
    const HEAD_BYTES: u32 = 22;
    let length = u32::try_from(png.len()).unwrap_or_default();
    // Reserved, type 1 (icon), one image; then its width, height, no palette, reserved, one plane, 32 bits a
    // pixel.
    let mut ico = vec![0, 0, 1, 0, 1, 0, FAVICON_SIDE, FAVICON_SIDE, 0, 0, 1, 0, 32, 0];
    ico.extend(length.to_le_bytes());
    ico.extend(HEAD_BYTES.to_le_bytes());
    ico.extend(png);
    ico
}

/// Draws the signpost on a square of `side` pixels. Each pixel is the mean of 16 points.
fn draw(side: u16, has_round_corners: bool) -> Vec<u8> {
    const POINTS: u16 = 4;
    let unit = 64.0 / f64::from(side * POINTS);
    let mut pixels = Vec::with_capacity(usize::from(side) * usize::from(side) * 4);
    for y in 0..side {
        for x in 0..side {
            let (mut inside, mut white) = (0_u16, 0_u16);
            for point in 0..POINTS * POINTS {
                let across = (f64::from(x * POINTS + point % POINTS) + 0.5) * unit;
                let down = (f64::from(y * POINTS + point / POINTS) + 0.5) * unit;
                if !has_round_corners || is_in_rounded_square(across, down) {
                    inside += 1;
                    white += u16::from(is_on_signpost(across, down));
                }
            }
            let mixed = |green: u8| {
                let white_share = if inside == 0 { 0.0 } else { f64::from(white) / f64::from(inside) };
                byte(f64::from(green) + (255.0 - f64::from(green)) * white_share)
            };
            let opacity = byte(f64::from(inside) * 255.0 / f64::from(POINTS * POINTS));
            pixels.extend([mixed(SIGN_GREEN.red), mixed(SIGN_GREEN.green), mixed(SIGN_GREEN.blue), opacity]);
        }
    }
    bitmap::png(side, Depth::Colours, &pixels)
}

/// A square of 64 by 64 with corners of radius 14.
fn is_in_rounded_square(x: f64, y: f64) -> bool {
    let beyond = |along: f64| (14.0 - along).max(along - 50.0).max(0.0);
    beyond(x).hypot(beyond(y)) <= 14.0
}

/// A pole with one arm to the right and one to the left.
fn is_on_signpost(x: f64, y: f64) -> bool {
    let is_on_arm = |tail: f64, middle: f64| {
        let from_middle = (y - middle).abs();
        tail >= 0.0 && from_middle <= 7.0 && tail <= 37.0 - from_middle
    };
    let is_on_pole = (x - 32.0).abs() <= 2.0 && (9.0..=56.0).contains(&y);
    is_on_pole || is_on_arm(x - 16.0, 20.0) || is_on_arm(48.0 - x, 38.0)
}

#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the value is clamped to the range of a byte"
)]
fn byte(value: f64) -> u8 {
    value.round().clamp(0.0, 255.0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(png: &[u8]) -> (png::OutputInfo, Vec<u8>) {
        let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        (info, pixels)
    }

    #[test]
    fn favicon_is_an_ico_with_one_image() {
        let ico = SiteIcon::Favicon.draw();
        assert_eq!(ico[..8], [0, 0, 1, 0, 1, 0, 32, 32]);
        let length = u32::from_le_bytes(ico[14..18].try_into().unwrap());
        assert_eq!((ico.len(), ico[18]), (22 + usize::try_from(length).unwrap(), 22));
        let (info, pixels) = decoded(&ico[22..]);
        assert_eq!((info.width, info.height), (32, 32));
        let pixel = |x: usize, y: usize| &pixels[(y * 32 + x) * 4..][..4];
        assert_eq!(pixel(0, 0)[3], 0, "a corner is transparent");
        assert_eq!(pixel(16, 10), [255, 255, 255, 255], "an arm is white");
        assert_eq!(pixel(3, 16), [0x11, 0x6b, 0x4f, 255], "the square is green");
    }

    #[test]
    fn touch_icon_fills_its_square() {
        let (info, pixels) = decoded(&SiteIcon::Touch.draw());
        assert_eq!((info.width, info.height), (180, 180));
        assert!(pixels.chunks(4).all(|pixel| pixel[3] == 255));
    }
}
