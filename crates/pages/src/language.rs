//! The languages of the small pages, and the choice for a visitor.

/// A language of the small pages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Language {
    /// English, the default for visitors who prefer none of these languages.
    #[default]
    English,
    /// German.
    German,
    /// Spanish.
    Spanish,
    /// French.
    French,
    /// Russian.
    Russian,
    /// Portuguese.
    Portuguese,
}

impl Language {
    /// Every language, in the order of declaration.
    pub const ALL: [Self; 6] =
        [Self::English, Self::German, Self::Spanish, Self::French, Self::Russian, Self::Portuguese];

    /// How much of a header is read, in bytes. Browsers send a tenth of it.
    pub const MAX_BYTES: usize = 1_024;

    /// How many languages of a header are read.
    const MAX_ITEMS: usize = 32;

    /// The tag for `lang` (BCP 47).
    #[must_use]
    pub const fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::German => "de",
            Self::Spanish => "es",
            Self::French => "fr",
            Self::Russian => "ru",
            Self::Portuguese => "pt",
        }
    }

    /// Returns the language that the visitor prefers, from the value of `Accept-Language` (RFC 9110 section
    /// 12.5.4). Regions are ignored, and so are malformed items. The first of several equally preferred
    /// languages wins. The default applies if the header is absent or names none of these languages.
    ///
    /// ```
    /// use signpost_pages::Language;
    ///
    /// assert_eq!(Language::preferred(b"da, pt-BR;q=0.8, en;q=0.7"), Language::Portuguese);
    /// assert_eq!(Language::preferred(b"ja"), Language::English);
    /// ```
    #[must_use]
    pub fn preferred(accept_language: &[u8]) -> Self {
        let read = accept_language.get(..Self::MAX_BYTES).unwrap_or(accept_language);
        let mut best = (0, Self::default());
        for item in read.split(|byte| *byte == b',').take(Self::MAX_ITEMS) {
            if let Some((language, quality)) = Self::preference(item)
                && quality > best.0
            {
                best = (quality, language);
            }
        }
        best.1
    }

    /// Parses one item of the header: a supported language and its quality in thousandths.
    fn preference(item: &[u8]) -> Option<(Self, u16)> {
        let mut parts = item.split(|byte| *byte == b';');
        let range = parts.next()?.trim_ascii();
        let mut thousandths = 1_000;
        for parameter in parts {
            let [b'q' | b'Q', b'=', value @ ..] = parameter.trim_ascii() else { continue };
            thousandths = quality(value)?;
        }
        let primary = range.split(|byte| *byte == b'-').next()?;
        let language = if primary == b"*" {
            Self::default()
        } else {
            Self::ALL.into_iter().find(|language| primary.eq_ignore_ascii_case(language.tag().as_bytes()))?
        };
        Some((language, thousandths))
    }
}

/// Parses a quality of `0` to `1` with at most three decimals, in thousandths.
fn quality(text: &[u8]) -> Option<u16> {
    let (whole, decimals) = match text {
        [whole] => (whole, [].as_slice()),
        [whole, b'.', decimals @ ..] if decimals.len() <= 3 => (whole, decimals),
        _ => return None,
    };
    let digit = |byte: &u8| byte.is_ascii_digit().then(|| u16::from(byte - b'0'));
    let mut thousandths = digit(whole)? * 1_000;
    for (decimal, unit) in decimals.iter().zip([100, 10, 1]) {
        thousandths += digit(decimal)? * unit;
    }
    (thousandths <= 1_000).then_some(thousandths)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn reads(header: &str, expected: Language) {
        assert_eq!(Language::preferred(header.as_bytes()), expected, "{header}");
    }

    #[test]
    fn preferred_supported_language_is_chosen() {
        reads("de", Language::German);
        reads("DE-at", Language::German);
        reads("pt-BR,pt;q=0.9,en;q=0.8", Language::Portuguese);
        reads("en;q=0.3, ru;q=0.7, fr;q=0.5", Language::Russian);
        reads("zh-Hant, ja;q=0.9, es-419;q=0.1", Language::Spanish);
        reads("fr, de", Language::French);
        reads("fr;q=1.000;x=y, de", Language::French);
        reads(" \tfr \t;\tq=0.9", Language::French);
    }

    #[test]
    fn english_is_the_default() {
        for header in ["", "ja", "*", ",,,", ";q=1", "de;q=0", "de;q=0.000, fr;q=0", "germany", "d", "deu"] {
            reads(header, Language::English);
        }
        reads("*;q=0.5, de;q=0.3", Language::English);
    }

    #[test]
    fn malformed_items_are_ignored() {
        for item in
            ["de;q=2", "de;q=1.001", "de;q=", "de;q=a", "de;q=0.1234", "de;q=.5", "de;q=-1", "de;q=0,9"]
        {
            reads(&format!("{item}, fr;q=0.1"), Language::French);
        }
    }

    #[test]
    fn header_is_read_up_to_its_bounds() {
        let many = format!("{}de", "ja,".repeat(Language::MAX_ITEMS));
        reads(&many, Language::English);
        let long = format!("{}de", " ".repeat(Language::MAX_BYTES));
        reads(&long, Language::English);
    }

    proptest! {
        #[test]
        fn any_bytes_yield_a_language(header: Vec<u8>) {
            prop_assert!(Language::ALL.contains(&Language::preferred(&header)));
        }

        #[test]
        fn unsupported_languages_make_no_difference(
            noise in prop::collection::vec("(xx|[0-9]{2}|q=1)(;q=[0-9.]{0,4})?", 0..8),
            place in 0..=8_usize,
        ) {
            let mut items = noise;
            items.insert(place.min(items.len()), "ru;q=0.001".to_owned());
            prop_assert_eq!(Language::preferred(items.join(",").as_bytes()), Language::Russian);
        }
    }
}
