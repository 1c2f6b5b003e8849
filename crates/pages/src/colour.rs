//! Colours: brightness, contrast, and lightness changes that keep the hue.
//!
//! Contrast follows WCAG 2.2. Lightness changes in OKLCH, where equal steps look equal, so a colour made
//! readable still looks like itself.

use std::fmt;

use signpost_domain::AccentColor;

/// A colour of the sRGB space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Rgb {
    pub(crate) red: u8,
    pub(crate) green: u8,
    pub(crate) blue: u8,
}

impl Rgb {
    pub(crate) const WHITE: Self = Self::new(255, 255, 255);
    pub(crate) const BLACK: Self = Self::new(0, 0, 0);

    pub(crate) const fn new(red: u8, green: u8, blue: u8) -> Self {
        Self { red, green, blue }
    }

    /// Converts an accent colour. `AccentColor` holds six hexadecimal digits, so the fallback is never
    /// reached.
    pub(crate) fn of(accent: &AccentColor) -> Self {
        Self::from_digits(accent.as_str().trim_start_matches('#')).unwrap_or(Self::BLACK)
    }

    /// Reads exactly six hexadecimal digits.
    pub(crate) fn from_digits(digits: &str) -> Option<Self> {
        if digits.len() != 6 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let channel = |from: usize| u8::from_str_radix(digits.get(from..from + 2)?, 16).ok();
        Some(Self::new(channel(0)?, channel(2)?, channel(4)?))
    }

    /// Relative luminance (WCAG 2.2).
    fn luminance(self) -> f64 {
        0.2126 * linear(self.red) + 0.7152 * linear(self.green) + 0.0722 * linear(self.blue)
    }

    /// Contrast ratio (WCAG 2.2), from 1 to 21.
    pub(crate) fn contrast(self, other: Self) -> f64 {
        let (one, two) = (self.luminance(), other.luminance());
        (one.max(two) + 0.05) / (one.min(two) + 0.05)
    }

    /// The contrast ratio in hundredths, rounded down.
    #[expect(
        clippy::as_conversions,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "from 100 to 2100"
    )]
    pub(crate) fn contrast_in_hundredths(self, other: Self) -> u16 {
        (self.contrast(other) * 100.0) as u16
    }

    /// Black or white, whichever has the higher contrast on this colour: at least 4.58:1.
    pub(crate) fn text_on(self) -> Self {
        if self.contrast(Self::WHITE) >= self.contrast(Self::BLACK) { Self::WHITE } else { Self::BLACK }
    }
}

/// `#rrggbb`.
impl fmt::Display for Rgb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { red, green, blue } = self;
        write!(f, "#{red:02x}{green:02x}{blue:02x}")
    }
}

/// A colour as lightness (0 to 1), chroma (0 to about 0.37) and hue (radians).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Oklch {
    pub(crate) lightness: f64,
    pub(crate) chroma: f64,
    pub(crate) hue: f64,
}

impl From<Rgb> for Oklch {
    fn from(Rgb { red, green, blue }: Rgb) -> Self {
        let (red, green, blue) = (linear(red), linear(green), linear(blue));
        let long = (0.412_221_470_8 * red + 0.536_332_536_3 * green + 0.051_445_992_9 * blue).cbrt();
        let medium = (0.211_903_498_2 * red + 0.680_699_545_1 * green + 0.107_396_956_6 * blue).cbrt();
        let short = (0.088_302_461_9 * red + 0.281_718_837_6 * green + 0.629_978_700_5 * blue).cbrt();
        let green_red = 1.977_998_495_1 * long - 2.428_592_205_0 * medium + 0.450_593_709_9 * short;
        let blue_yellow = 0.025_904_037_1 * long + 0.782_771_766_2 * medium - 0.808_675_766_0 * short;
        Self {
            lightness: 0.210_454_255_3 * long + 0.793_617_785_0 * medium - 0.004_072_046_8 * short,
            chroma: green_red.hypot(blue_yellow),
            hue: blue_yellow.atan2(green_red),
        }
    }
}

impl Oklch {
    /// The same hue with another lightness, and with at most this chroma.
    pub(crate) fn toned(self, lightness: f64, most_chroma: f64) -> Rgb {
        Self { lightness, chroma: self.chroma.min(most_chroma), ..self }.to_rgb()
    }

    /// The nearest colour that a screen can show: chroma shrinks, lightness and hue stay.
    pub(crate) fn to_rgb(self) -> Rgb {
        let mut colour = self;
        // 0.9 to the 60th leaves less than 0.2 % of the chroma, which every lightness can show.
        for _ in 0..60 {
            if colour.channels().iter().all(|channel| (-0.000_1..=1.000_1).contains(channel)) {
                break;
            }
            colour.chroma *= 0.9;
        }
        let [red, green, blue] = colour.channels().map(encoded);
        Rgb::new(red, green, blue)
    }

    /// Linear red, green and blue; outside 0 to 1 if no screen can show the colour.
    fn channels(self) -> [f64; 3] {
        let green_red = self.chroma * self.hue.cos();
        let blue_yellow = self.chroma * self.hue.sin();
        let long = (self.lightness + 0.396_337_777_4 * green_red + 0.215_803_757_3 * blue_yellow).powi(3);
        let medium = (self.lightness - 0.105_561_345_8 * green_red - 0.063_854_172_8 * blue_yellow).powi(3);
        let short = (self.lightness - 0.089_484_177_5 * green_red - 1.291_485_548_0 * blue_yellow).powi(3);
        [
            4.076_741_662_1 * long - 3.307_711_591_3 * medium + 0.230_969_929_2 * short,
            -1.268_438_004_6 * long + 2.609_757_401_1 * medium - 0.341_319_396_5 * short,
            -0.004_196_086_3 * long - 0.703_418_614_7 * medium + 1.707_614_701_0 * short,
        ]
    }
}

/// Darkens `colour` (or lightens it, if `to_light`) until its contrast is `ratio` on each of `backgrounds`.
/// If no lightness suffices, returns black or white.
pub(crate) fn readable(colour: Rgb, backgrounds: &[Rgb], ratio: f64, to_light: bool) -> Rgb {
    let reads = |candidate: Rgb| backgrounds.iter().all(|ground| candidate.contrast(*ground) >= ratio);
    if reads(colour) {
        return colour;
    }
    let start = Oklch::from(colour);
    let end = if to_light { 1.0 } else { 0.0 };
    (1..=100_u8)
        .map(|step| {
            let lightness = start.lightness + (end - start.lightness) * f64::from(step) / 100.0;
            Oklch { lightness, ..start }.to_rgb()
        })
        .find(|candidate| reads(*candidate))
        .unwrap_or(if to_light { Rgb::WHITE } else { Rgb::BLACK })
}

fn linear(channel: u8) -> f64 {
    let channel = f64::from(channel) / 255.0;
    if channel <= 0.040_45 { channel / 12.92 } else { ((channel + 0.055) / 1.055).powf(2.4) }
}

#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the value is rounded and clamped to the range of a byte"
)]
fn encoded(linear: f64) -> u8 {
    let linear = linear.clamp(0.0, 1.0);
    let channel = if linear <= 0.003_130_8 { linear * 12.92 } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 };
    (channel * 255.0).round().clamp(0.0, 255.0) as u8
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn contrast_matches_wcag() {
        assert!((Rgb::WHITE.contrast(Rgb::BLACK) - 21.0).abs() < 1e-9);
        // WebAIM's example, also in WCAG's understanding document: #767676 just passes on white.
        assert!(Rgb::new(0x76, 0x76, 0x76).contrast(Rgb::WHITE) >= 4.5);
        assert!(Rgb::new(0x77, 0x77, 0x77).contrast(Rgb::WHITE) < 4.5);
    }

    #[test]
    fn accent_colours_are_parsed_channel_by_channel() {
        let accent = AccentColor::parse("#1f7A5c").unwrap();
        assert_eq!(Rgb::of(&accent), Rgb::new(0x1f, 0x7a, 0x5c));
        assert_eq!(Rgb::of(&accent).to_string(), "#1f7a5c");
    }

    proptest! {
        #[test]
        fn oklch_round_trip_keeps_the_colour(red: u8, green: u8, blue: u8) {
            let colour = Rgb::new(red, green, blue);
            let back = Oklch::from(colour).to_rgb();
            for (one, two) in [(red, back.red), (green, back.green), (blue, back.blue)] {
                prop_assert!(one.abs_diff(two) <= 1, "{colour} became {back}");
            }
        }

        #[test]
        fn black_or_white_is_readable_on_every_colour(red: u8, green: u8, blue: u8) {
            let colour = Rgb::new(red, green, blue);
            prop_assert!(colour.text_on().contrast(colour) >= 4.5);
        }
    }
}
