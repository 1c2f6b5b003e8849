//! The colours of a page, all derived from its accent colour (D34).
//!
//! As a surface the accent stays unchanged, with black or white text on it. As text or line, its lightness
//! moves until its contrast is 4.5:1 on every surface of the page. Paper, cards and lines get a trace of its
//! hue, so the whole page matches the accent.

use std::fmt::Write;

use signpost_domain::{AccentColor, Theme};

use crate::colour::{Oklch, Rgb, readable};

/// The minimum contrast of text (WCAG 2.2, level AA).
pub(crate) const READABLE: f64 = 4.5;

/// The accent of pages without their own: the green of road signs.
pub(crate) const SIGN_GREEN: Rgb = Rgb::new(0x11, 0x6b, 0x4f);

/// The colours of a page in light or in dark.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Palette {
    /// The page.
    pub(crate) paper: Rgb,
    /// The brightest point of the glow behind the top of the page.
    pub(crate) glow: Rgb,
    /// Surfaces on the page: links, videos.
    pub(crate) card: Rgb,
    /// Borders.
    pub(crate) line: Rgb,
    /// Text.
    pub(crate) ink: Rgb,
    /// Less important text.
    pub(crate) soft: Rgb,
    /// The accent as text, icon or outline.
    pub(crate) mark: Rgb,
    /// The accent as a surface.
    pub(crate) fill: Rgb,
    /// Text on the accent.
    pub(crate) on_fill: Rgb,
}

impl Palette {
    pub(crate) fn light(accent: Rgb) -> Self {
        let tone = Oklch::from(accent);
        let paper = tone.toned(0.977, 0.010);
        let glow = tone.toned(0.925, 0.055);
        let card = Rgb::WHITE;
        let surfaces = [paper, glow, card];
        Self {
            paper,
            glow,
            card,
            line: tone.toned(0.895, 0.020),
            ink: readable(tone.toned(0.235, 0.035), &surfaces, READABLE, false),
            soft: readable(tone.toned(0.475, 0.030), &surfaces, READABLE, false),
            mark: readable(accent, &surfaces, READABLE, false),
            fill: accent,
            on_fill: accent.text_on(),
        }
    }

    pub(crate) fn dark(accent: Rgb) -> Self {
        let tone = Oklch::from(accent);
        let paper = tone.toned(0.175, 0.014);
        let glow = tone.toned(0.275, 0.060);
        let card = tone.toned(0.230, 0.018);
        let surfaces = [paper, glow, card];
        Self {
            paper,
            glow,
            card,
            line: tone.toned(0.335, 0.022),
            ink: readable(tone.toned(0.965, 0.008), &surfaces, READABLE, true),
            soft: readable(tone.toned(0.760, 0.022), &surfaces, READABLE, true),
            mark: readable(accent, &surfaces, READABLE, true),
            fill: accent,
            on_fill: accent.text_on(),
        }
    }

    fn write_to(self, css: &mut String) {
        let Self { paper, glow, card, line, ink, soft, mark, fill, on_fill } = self;
        // Writing to a `String` cannot fail.
        let _ = write!(
            css,
            ":root{{--paper:{paper};--glow:{glow};--card:{card};--line:{line};--ink:{ink};--soft:{soft};\
             --mark:{mark};--fill:{fill};--on:{on_fill}}}"
        );
    }
}

/// The colours of a page in its theme.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Colours {
    theme: Theme,
    pub(crate) light: Palette,
    pub(crate) dark: Palette,
}

impl Colours {
    pub(crate) fn new(theme: Theme, accent: Option<&AccentColor>) -> Self {
        let accent = accent.map_or(SIGN_GREEN, Rgb::of);
        Self { theme, light: Palette::light(accent), dark: Palette::dark(accent) }
    }

    /// The custom properties that the style sheets use.
    pub(crate) fn css(&self) -> String {
        let mut css = String::new();
        match self.theme {
            Theme::Light => self.light.write_to(&mut css),
            Theme::Dark => self.dark.write_to(&mut css),
            Theme::Auto => {
                self.light.write_to(&mut css);
                css.push_str("@media(prefers-color-scheme:dark){");
                self.dark.write_to(&mut css);
                css.push('}');
            }
        }
        css
    }

    /// The value of `color-scheme`, which also colours scroll bars and what the browser draws before the
    /// page.
    pub(crate) const fn scheme(&self) -> &'static str {
        match self.theme {
            Theme::Light => "light",
            Theme::Dark => "dark",
            Theme::Auto => "light dark",
        }
    }

    /// The values of `theme-color`: the colour of the browser's bars, and the media query in which it
    /// applies.
    pub(crate) fn bars(&self) -> Vec<(Rgb, &'static str)> {
        match self.theme {
            Theme::Light => vec![(self.light.glow, "all")],
            Theme::Dark => vec![(self.dark.glow, "all")],
            Theme::Auto => vec![
                (self.light.glow, "(prefers-color-scheme:light)"),
                (self.dark.glow, "(prefers-color-scheme:dark)"),
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn unreadable(accent: Rgb) -> Vec<String> {
        let mut found = Vec::new();
        for (name, palette) in [("light", Palette::light(accent)), ("dark", Palette::dark(accent))] {
            let Palette { paper, glow, card, line: _, ink, soft, mark, fill, on_fill } = palette;
            let pairs = [("ink", ink), ("soft", soft), ("mark", mark)]
                .into_iter()
                .flat_map(|text| {
                    [("paper", paper), ("glow", glow), ("card", card)].map(|ground| (text, ground))
                })
                .chain([(("on", on_fill), ("fill", fill))]);
            for ((text, colour), (ground, under)) in pairs {
                let contrast = colour.contrast(under);
                if contrast < READABLE {
                    found.push(format!("{accent} in {name}: {text} on {ground} is {contrast:.2}"));
                }
            }
        }
        found
    }

    /// A grid over all colours, including black, white and every pure hue.
    #[test]
    fn d34_text_contrast_is_4_5_for_every_accent() {
        let steps = || (0..=255_u8).step_by(17);
        for red in steps() {
            for green in steps() {
                for blue in steps() {
                    assert_eq!(unreadable(Rgb::new(red, green, blue)), Vec::<String>::new());
                }
            }
        }
    }

    proptest! {
        #[test]
        fn d34_text_contrast_is_4_5_for_random_accents(red: u8, green: u8, blue: u8) {
            prop_assert_eq!(unreadable(Rgb::new(red, green, blue)), Vec::<String>::new());
        }
    }

    #[test]
    fn d34_readable_accent_is_unchanged() {
        let accent = Rgb::new(0x9b, 0x1c, 0x4d);
        let palette = Palette::light(accent);
        assert_eq!((palette.fill, palette.mark), (accent, accent));
    }

    #[test]
    fn d34_theme_uses_only_its_own_colours() {
        let css = |theme| Colours::new(theme, None).css();
        assert!(!css(Theme::Light).contains("@media") && !css(Theme::Dark).contains("@media"));
        assert_ne!(css(Theme::Light), css(Theme::Dark));
        let auto = css(Theme::Auto);
        assert!(auto.starts_with(&css(Theme::Light)));
        assert!(auto.contains(&format!("@media(prefers-color-scheme:dark){{{}}}", css(Theme::Dark))));
    }
}
