//! The choices of a page's owner about how it looks (D34). Each is one of a few names, and has a default.

use crate::stored::MalformedStored;
use crate::violation::{FieldError, ViolationCode};

/// Declares a choice between names: an enumeration with its names in requests, answers and stores.
macro_rules! choice {
    (
        $(#[$about:meta])* $choice:ident, $count:literal, $mistake:literal, $malformed:literal,
        $($(#[$about_value:meta])* $value:ident => $name:literal,)*
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
        pub enum $choice {
            $($(#[$about_value])* $value,)*
        }

        impl $choice {
            /// Every value.
            pub const ALL: [Self; $count] = [$(Self::$value,)*];

            /// The name in requests and answers.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$value => $name,)*
                }
            }

            /// The value of this name.
            ///
            /// # Errors
            /// `invalid_value`.
            pub fn parse(text: &str) -> Result<Self, FieldError> {
                Self::named(text).ok_or_else(|| FieldError::new(ViolationCode::InvalidValue, $mistake))
            }

            /// Reads a stored name.
            pub fn from_stored(text: &str) -> Result<Self, MalformedStored> {
                Self::named(text).ok_or(MalformedStored($malformed))
            }

            fn named(text: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.as_str() == text)
            }
        }
    };
}

choice! {
    /// Whether a page is light or dark.
    Theme, 3, "must be one of light, dark, auto", "is not a theme",
    /// `light`
    Light => "light",
    /// `dark`
    Dark => "dark",
    /// `auto`: the setting of the visitor's device.
    #[default]
    Auto => "auto",
}

choice! {
    /// What is behind the content of a page. All of its colours follow from the accent colour.
    Background, 3, "must be one of plain, gradient, dots", "is not a background",
    /// `plain`: one colour.
    Plain => "plain",
    /// `gradient`: a glow at the top of the page.
    #[default]
    Gradient => "gradient",
    /// `dots`: a grid of small dots.
    Dots => "dots",
}

choice! {
    /// The form of buttons, and of the other surfaces of a page.
    ButtonStyle, 4, "must be one of card, pill, outline, filled", "is not a style of buttons",
    /// `card`: surfaces with rounded corners.
    #[default]
    Card => "card",
    /// `pill`: surfaces with round ends.
    Pill => "pill",
    /// `outline`: a line in the accent colour around each, and no surface.
    Outline => "outline",
    /// `filled`: surfaces in the accent colour.
    Filled => "filled",
}

choice! {
    /// The typeface of a page. A visitor's system provides it, so a page loads no font.
    Font, 3, "must be one of sans, serif, rounded", "is not a font",
    /// `sans`: the typeface of the system's own interface.
    #[default]
    Sans => "sans",
    /// `serif`: a typeface of books.
    Serif => "serif",
    /// `rounded`: a typeface with round ends of strokes, or else that of `sans`.
    Rounded => "rounded",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d34_choices_have_the_names_and_defaults_of_the_contract() {
        assert_eq!(Theme::ALL.map(Theme::as_str), ["light", "dark", "auto"]);
        assert_eq!(Background::ALL.map(Background::as_str), ["plain", "gradient", "dots"]);
        assert_eq!(ButtonStyle::ALL.map(ButtonStyle::as_str), ["card", "pill", "outline", "filled"]);
        assert_eq!(Font::ALL.map(Font::as_str), ["sans", "serif", "rounded"]);
        assert_eq!(
            (Theme::default(), Background::default(), ButtonStyle::default(), Font::default()),
            (Theme::Auto, Background::Gradient, ButtonStyle::Card, Font::Sans)
        );
    }

    #[test]
    fn d34_a_choice_is_read_by_its_exact_name() {
        for background in Background::ALL {
            assert_eq!(Background::parse(background.as_str()), Ok(background));
            assert_eq!(Background::from_stored(background.as_str()), Ok(background));
        }
        for bad in ["", "Dots", "dots ", "stripes"] {
            let error = Background::parse(bad).unwrap_err();
            assert_eq!(error.code(), ViolationCode::InvalidValue, "{bad:?}");
            assert!(Background::from_stored(bad).is_err(), "{bad:?}");
        }
    }

    /// The message of a mistake names every value.
    #[test]
    fn d34_a_mistaken_choice_is_told_all_names() {
        let mistakes = [
            (Theme::parse("x").unwrap_err(), Theme::ALL.map(Theme::as_str).join(", ")),
            (Background::parse("x").unwrap_err(), Background::ALL.map(Background::as_str).join(", ")),
            (ButtonStyle::parse("x").unwrap_err(), ButtonStyle::ALL.map(ButtonStyle::as_str).join(", ")),
            (Font::parse("x").unwrap_err(), Font::ALL.map(Font::as_str).join(", ")),
        ];
        for (error, names) in mistakes {
            assert_eq!(error.message(), format!("must be one of {names}"));
        }
    }
}
