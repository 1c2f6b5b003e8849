//! How a landing page uses an accent colour, for editors that warn of colours that are hard to read (D34).

use signpost_domain::{AccentColor, Theme};

use crate::colour::Rgb;
use crate::palette::Palette;

/// How a page uses an accent colour in light and in dark. `None` for the one that its theme never shows.
///
/// This is about text, icons and lines in the accent. Surfaces always show it as given, with black or white text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccentContrast {
    /// In light.
    pub light: Option<AccentText>,
    /// In dark.
    pub dark: Option<AccentText>,
}

/// The colour of text, icons and lines in the accent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccentText {
    /// The accent is readable on every surface of the page: it has a contrast of at least 4.5:1 (WCAG 2.2 AA).
    AsGiven,
    /// The accent is not readable, so this darker or lighter colour replaces it. It has that contrast.
    Adjusted(AccentColor),
}

impl AccentContrast {
    /// Whether the page shows the accent only as given.
    #[must_use]
    pub fn is_as_given(&self) -> bool {
        let Self { light, dark } = self;
        [light, dark].into_iter().flatten().all(|text| *text == AccentText::AsGiven)
    }
}

/// How a page with this theme uses `accent`. The background of the page makes no difference.
///
/// ```
/// use signpost_domain::{AccentColor, Theme};
/// use signpost_pages::{AccentText, accent_contrast};
///
/// let yellow = AccentColor::parse("#ffe600").unwrap();
/// assert!(accent_contrast(&yellow, Theme::Dark).is_as_given());
/// assert!(matches!(accent_contrast(&yellow, Theme::Light).light, Some(AccentText::Adjusted(_))));
/// ```
#[must_use]
pub fn accent_contrast(accent: &AccentColor, theme: Theme) -> AccentContrast {
    let given = Rgb::of(accent);
    let text = |palette: Palette| match palette.mark {
        mark if mark == given => AccentText::AsGiven,
        Rgb { red, green, blue } => AccentText::Adjusted(AccentColor::from_channels(red, green, blue)),
    };
    let light = || Some(text(Palette::light(given)));
    let dark = || Some(text(Palette::dark(given)));
    match theme {
        Theme::Light => AccentContrast { light: light(), dark: None },
        Theme::Dark => AccentContrast { light: None, dark: dark() },
        Theme::Auto => AccentContrast { light: light(), dark: dark() },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::palette::READABLE;

    fn accent(text: &str) -> AccentColor {
        AccentColor::parse(text).unwrap()
    }

    #[test]
    fn d34_verdict_covers_what_the_theme_shows() {
        let navy = accent("#1a2b3c");
        let of = |theme| accent_contrast(&navy, theme);
        assert_eq!(of(Theme::Light), AccentContrast { light: Some(AccentText::AsGiven), dark: None });
        assert!(of(Theme::Light).is_as_given());
        let AccentContrast { light: None, dark: Some(AccentText::Adjusted(lighter)) } = of(Theme::Dark)
        else {
            panic!("{:?}", of(Theme::Dark))
        };
        assert!(!of(Theme::Dark).is_as_given() && !of(Theme::Auto).is_as_given());
        assert_eq!(of(Theme::Auto).light, Some(AccentText::AsGiven));
        assert_eq!(of(Theme::Auto).dark, Some(AccentText::Adjusted(lighter)));
    }

    #[test]
    fn d34_extreme_accents_are_adjusted_where_they_are_not_readable() {
        for (colour, in_light, in_dark) in [
            ("#000000", true, false),
            ("#ffffff", false, true),
            ("#ffe600", false, true),
            ("#116b4f", true, false),
            ("#808080", false, false),
        ] {
            let AccentContrast { light, dark } = accent_contrast(&accent(colour), Theme::Auto);
            let is_given = |text: Option<AccentText>| text == Some(AccentText::AsGiven);
            assert_eq!((is_given(light), is_given(dark)), (in_light, in_dark), "{colour}");
        }
    }

    proptest! {
        /// The verdict is what the page shows, and the adjusted colour is readable.
        #[test]
        fn d34_verdict_is_the_colour_of_the_page(red: u8, green: u8, blue: u8) {
            let given = Rgb::new(red, green, blue);
            let AccentContrast { light, dark } =
                accent_contrast(&AccentColor::from_channels(red, green, blue), Theme::Auto);
            for (text, palette) in [(light, Palette::light(given)), (dark, Palette::dark(given))] {
                let shown = match text {
                    Some(AccentText::AsGiven) => given,
                    Some(AccentText::Adjusted(colour)) => Rgb::of(&colour),
                    None => panic!("the theme shows both"),
                };
                prop_assert_eq!(shown, palette.mark);
                prop_assert!(shown.contrast(palette.paper) >= READABLE);
                prop_assert!(shown.contrast(palette.card) >= READABLE);
            }
        }
    }
}
