//! The colours of a page, all derived from its accent colour (D34).
//!
//! As a surface the accent stays unchanged, with black or white text on it. As text or line, its lightness
//! moves until its contrast is 4.5:1 on every surface of the page. Paper, cards and lines get a trace of its
//! hue, so the whole page matches the accent.

use std::fmt::Write;

use signpost_domain::{Background, ButtonStyle, PageContent, Theme};

use crate::colour::{Oklch, Rgb, readable};

/// The minimum contrast of text (WCAG 2.2, level AA).
pub(crate) const READABLE: f64 = 4.5;

/// The minimum contrast of the parts by which people recognise a control (WCAG 2.2, level AA).
pub(crate) const VISIBLE: f64 = 3.0;

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
    /// The border of the accent as a surface.
    pub(crate) edge: Rgb,
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
            edge: readable(accent, &[paper, glow], VISIBLE, false),
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
            edge: readable(accent, &[paper, glow], VISIBLE, true),
        }
    }

    fn write_to(self, css: &mut String, has_edges: bool) {
        let Self { paper, glow, card, line, ink, soft, mark, fill, on_fill, edge } = self;
        // Writing to a `String` cannot fail.
        let _ = write!(
            css,
            ":root{{--paper:{paper};--glow:{glow};--card:{card};--line:{line};--ink:{ink};--soft:{soft};\
             --mark:{mark};--fill:{fill};--on:{on_fill}"
        );
        if has_edges {
            let _ = write!(css, ";--edge:{edge}");
        }
        css.push('}');
    }
}

/// The colours of a page in its theme.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Colours {
    theme: Theme,
    background: Background,
    button_style: ButtonStyle,
    pub(crate) light: Palette,
    pub(crate) dark: Palette,
}

impl Colours {
    /// The colours of a landing page with this content.
    pub(crate) fn of(content: &PageContent) -> Self {
        let PageContent { theme, accent_color, background, button_style, .. } = content;
        let accent = accent_color.as_ref().map_or(SIGN_GREEN, Rgb::of);
        Self {
            theme: *theme,
            background: *background,
            button_style: *button_style,
            light: Palette::light(accent),
            dark: Palette::dark(accent),
        }
    }

    /// The colours of Signpost's own pages.
    pub(crate) fn of_own_pages() -> Self {
        Self::of(&PageContent::default())
    }

    /// The custom properties that the style sheets use.
    pub(crate) fn css(&self) -> String {
        let mut css = String::new();
        let has_edges = self.button_style == ButtonStyle::Filled;
        match self.theme {
            Theme::Light => self.light.write_to(&mut css, has_edges),
            Theme::Dark => self.dark.write_to(&mut css, has_edges),
            Theme::Auto => {
                self.light.write_to(&mut css, has_edges);
                css.push_str("@media(prefers-color-scheme:dark){");
                self.dark.write_to(&mut css, has_edges);
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
        let top = |palette: &Palette| match self.background {
            Background::Gradient => palette.glow,
            Background::Plain | Background::Dots => palette.paper,
        };
        let (light, dark) = (top(&self.light), top(&self.dark));
        match self.theme {
            Theme::Light => vec![(light, "all")],
            Theme::Dark => vec![(dark, "all")],
            Theme::Auto => {
                vec![(light, "(prefers-color-scheme:light)"), (dark, "(prefers-color-scheme:dark)")]
            }
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
            let Palette { paper, glow, card, line: _, ink, soft, mark, fill, on_fill, edge } = palette;
            let pairs = [("ink", ink), ("soft", soft), ("mark", mark)]
                .into_iter()
                .flat_map(|text| {
                    [("paper", paper), ("glow", glow), ("card", card)].map(|ground| (text, ground, READABLE))
                })
                .chain([(("on", on_fill), ("fill", fill), READABLE)])
                .chain([("paper", paper), ("glow", glow)].map(|ground| (("edge", edge), ground, VISIBLE)));
            for ((text, colour), (ground, under), minimum) in pairs {
                let contrast = colour.contrast(under);
                if contrast < minimum {
                    found.push(format!("{accent} in {name}: {text} on {ground} is {contrast:.2}"));
                }
            }
        }
        found
    }

    /// A grid over all colours, including black, white and every pure hue.
    #[test]
    fn d34_contrast_of_text_and_controls_suffices_for_every_accent() {
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
        fn d34_contrast_of_text_and_controls_suffices_for_random_accents(red: u8, green: u8, blue: u8) {
            prop_assert_eq!(unreadable(Rgb::new(red, green, blue)), Vec::<String>::new());
        }
    }

    #[test]
    fn d34_readable_accent_is_unchanged() {
        let accent = Rgb::new(0x9b, 0x1c, 0x4d);
        let palette = Palette::light(accent);
        assert_eq!((palette.fill, palette.mark, palette.edge), (accent, accent, accent));
    }

    #[test]
    fn d34_theme_uses_only_its_own_colours() {
        let css = |theme| Colours::of(&PageContent { theme, ..PageContent::default() }).css();
        assert!(!css(Theme::Light).contains("@media") && !css(Theme::Dark).contains("@media"));
        assert_ne!(css(Theme::Light), css(Theme::Dark));
        let auto = css(Theme::Auto);
        assert!(auto.starts_with(&css(Theme::Light)));
        assert!(auto.contains(&format!("@media(prefers-color-scheme:dark){{{}}}", css(Theme::Dark))));
    }

    #[test]
    fn d34_bars_of_the_browser_continue_the_top_of_the_page() {
        for (background, top) in [
            (Background::Plain, Palette::dark(SIGN_GREEN).paper),
            (Background::Gradient, Palette::dark(SIGN_GREEN).glow),
            (Background::Dots, Palette::dark(SIGN_GREEN).paper),
        ] {
            let content = PageContent { theme: Theme::Dark, background, ..PageContent::default() };
            assert_eq!(Colours::of(&content).bars(), [(top, "all")]);
        }
    }

    #[test]
    fn d34_only_filled_buttons_need_the_colour_of_their_edges() {
        for button_style in ButtonStyle::ALL {
            let content = PageContent { button_style, ..PageContent::default() };
            let count = Colours::of(&content).css().matches("--edge:").count();
            assert_eq!(count, if button_style == ButtonStyle::Filled { 2 } else { 0 }, "{button_style:?}");
        }
    }
}
