//! Country codes (D26).

use std::borrow::Cow;
use std::fmt;

use crate::stored::MalformedStored;
use crate::violation::{FieldError, ViolationCode};

/// All officially assigned two-letter codes of ISO 3166-1, and `XK`, which databases of countries use for Kosovo, in ascending
/// order.
#[rustfmt::skip]
const ASSIGNED: [&str; CountryCode::COUNT] = [
    "AD", "AE", "AF", "AG", "AI", "AL", "AM", "AO", "AQ", "AR", "AS", "AT", "AU", "AW", "AX", "AZ", "BA",
    "BB", "BD", "BE", "BF", "BG", "BH", "BI", "BJ", "BL", "BM", "BN", "BO", "BQ", "BR", "BS", "BT", "BV",
    "BW", "BY", "BZ", "CA", "CC", "CD", "CF", "CG", "CH", "CI", "CK", "CL", "CM", "CN", "CO", "CR", "CU",
    "CV", "CW", "CX", "CY", "CZ", "DE", "DJ", "DK", "DM", "DO", "DZ", "EC", "EE", "EG", "EH", "ER", "ES",
    "ET", "FI", "FJ", "FK", "FM", "FO", "FR", "GA", "GB", "GD", "GE", "GF", "GG", "GH", "GI", "GL", "GM",
    "GN", "GP", "GQ", "GR", "GS", "GT", "GU", "GW", "GY", "HK", "HM", "HN", "HR", "HT", "HU", "ID", "IE",
    "IL", "IM", "IN", "IO", "IQ", "IR", "IS", "IT", "JE", "JM", "JO", "JP", "KE", "KG", "KH", "KI", "KM",
    "KN", "KP", "KR", "KW", "KY", "KZ", "LA", "LB", "LC", "LI", "LK", "LR", "LS", "LT", "LU", "LV", "LY",
    "MA", "MC", "MD", "ME", "MF", "MG", "MH", "MK", "ML", "MM", "MN", "MO", "MP", "MQ", "MR", "MS", "MT",
    "MU", "MV", "MW", "MX", "MY", "MZ", "NA", "NC", "NE", "NF", "NG", "NI", "NL", "NO", "NP", "NR", "NU",
    "NZ", "OM", "PA", "PE", "PF", "PG", "PH", "PK", "PL", "PM", "PN", "PR", "PS", "PT", "PW", "PY", "QA",
    "RE", "RO", "RS", "RU", "RW", "SA", "SB", "SC", "SD", "SE", "SG", "SH", "SI", "SJ", "SK", "SL", "SM",
    "SN", "SO", "SR", "SS", "ST", "SV", "SX", "SY", "SZ", "TC", "TD", "TF", "TG", "TH", "TJ", "TK", "TL",
    "TM", "TN", "TO", "TR", "TT", "TV", "TW", "TZ", "UA", "UG", "UM", "US", "UY", "UZ", "VA", "VC", "VE",
    "VG", "VI", "VN", "VU", "WF", "WS", "XK", "YE", "YT", "ZA", "ZM", "ZW",
];

/// Codes that are not assigned, with the probably intended code, in ascending order. Some are withdrawn codes
/// (ISO 3166-3, without those assigned again). Two are codes of the European Union (`UK`, `EL`; EU
/// Interinstitutional Style Guide, 7.1.1). The others are codes of languages (ISO 639-1) that are mistaken
/// for countries.
#[rustfmt::skip]
const MISTAKEN: [(&str, &str); 31] = [
    ("AN", "BQ, CW or SX"), ("BU", "MM"), ("CS", "CZ, ME, RS or SK"), ("CT", "KI"), ("DA", "DK"), ("DD", "DE"),
    ("DY", "BJ"), ("EL", "GR"), ("EN", "GB or US"), ("FQ", "TF"), ("FX", "FR"), ("HE", "IL"), ("HV", "BF"),
    ("JA", "JP"), ("JT", "UM"), ("KO", "KR"), ("MI", "UM"), ("NH", "VU"), ("NQ", "AQ"),
    ("PC", "FM, MH, MP or PW"), ("PU", "UM"), ("PZ", "PA"), ("RH", "ZW"), ("TP", "TL"), ("UK", "GB"),
    ("VD", "VN"), ("WK", "UM"), ("YD", "YE"), ("YU", "ME or RS"), ("ZH", "CN"), ("ZR", "CD"),
];

/// The number of capital letters.
const LETTERS: usize = 26;

/// All pairs of capital letters, in ascending order.
static PAIRS: [[u8; 2]; LETTERS * LETTERS] = pairs();

#[expect(clippy::indexing_slicing, reason = "the bounds of the loops are those of the tables")]
const fn pairs() -> [[u8; 2]; LETTERS * LETTERS] {
    const ALPHABET: [u8; LETTERS] = *b"ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let mut pairs = [[0; 2]; LETTERS * LETTERS];
    let mut number = 0;
    while number < pairs.len() {
        pairs[number] = [ALPHABET[number / LETTERS], ALPHABET[number % LETTERS]];
        number += 1;
    }
    pairs
}

/// Whether each of [`PAIRS`] is an assigned code.
static IS_ASSIGNED: [bool; LETTERS * LETTERS] = assigned_pairs();

#[expect(
    clippy::indexing_slicing,
    reason = "the bounds of the loop are those of the tables, and each code has two letters"
)]
const fn assigned_pairs() -> [bool; LETTERS * LETTERS] {
    let pairs = pairs();
    let mut assigned = [false; LETTERS * LETTERS];
    // Both lists ascend.
    let (mut number, mut next) = (0, 0);
    while number < pairs.len() && next < ASSIGNED.len() {
        let code = ASSIGNED[next].as_bytes();
        if pairs[number][0] == code[0] && pairs[number][1] == code[1] {
            assigned[number] = true;
            next += 1;
        }
        number += 1;
    }
    assigned
}

/// The index in [`PAIRS`] of two capital letters.
fn place_of(code: &[u8]) -> Option<usize> {
    let &[first, second] = code else { return None };
    let [row, column] = [first, second].map(|letter| usize::from(letter.wrapping_sub(b'A')));
    (row < LETTERS && column < LETTERS).then_some(row * LETTERS + column)
}

/// A country as its two-letter code of ISO 3166-1 (alpha-2), in upper case (D26).
///
/// ```
/// use signpost_domain::CountryCode;
///
/// assert_eq!(CountryCode::parse("de").unwrap().as_str(), "DE");
/// assert!(CountryCode::parse("XX").is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CountryCode(&'static str);

impl CountryCode {
    /// The number of codes, and so the maximum length of a list of countries.
    pub const COUNT: usize = 250;

    /// Reads a code in upper or lower case.
    ///
    /// # Errors
    /// `invalid_value` for a code that is not assigned. Reserved and user-assigned codes (`UK`, `EU`) are not
    /// assigned; `XK` counts as assigned. The message suggests the probably intended code, if it is known.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        <[u8; 2]>::try_from(text.as_bytes())
            .ok()
            .and_then(|letters| Self::assigned(letters.map(|letter| letter.to_ascii_uppercase())))
            .ok_or_else(|| {
                FieldError::new(ViolationCode::InvalidValue, message_for(&text.to_ascii_uppercase()))
            })
    }

    /// The country with this code of two capital letters, if it is assigned. Unlike [`Self::parse`] it does
    /// not allocate.
    #[must_use]
    pub fn assigned(letters: [u8; 2]) -> Option<Self> {
        let place = place_of(&letters).filter(|place| IS_ASSIGNED.get(*place) == Some(&true))?;
        Self::of_pair(place)
    }

    fn of_pair(place: usize) -> Option<Self> {
        str::from_utf8(PAIRS.get(place)?).ok().map(Self)
    }

    /// Reads a stored code: any two capital letters, because a stored code may have been withdrawn since.
    pub fn from_stored(text: &str) -> Result<Self, MalformedStored> {
        const ERROR: MalformedStored = MalformedStored("is not two capital letters");
        place_of(text.as_bytes()).and_then(Self::of_pair).ok_or(ERROR)
    }

    /// The code, in upper case.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.0
    }

    /// All countries, in the order of their codes.
    pub fn all() -> impl ExactSizeIterator<Item = Self> {
        ASSIGNED.into_iter().map(Self)
    }
}

/// The message for an unassigned code in upper case.
fn message_for(code: &str) -> Cow<'static, str> {
    let mistaken = MISTAKEN.binary_search_by(|(mistaken, _)| (*mistaken).cmp(code)).ok();
    match mistaken.and_then(|index| MISTAKEN.get(index)) {
        Some((_, meant)) => {
            format!("must be a two-letter country code of ISO 3166-1 (did you mean {meant}?)").into()
        }
        None => "must be a two-letter country code of ISO 3166-1, such as DE".into(),
    }
}

impl fmt::Display for CountryCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn d26_the_table_has_250_sorted_codes_of_two_letters() {
        assert!(ASSIGNED.is_sorted_by(|a, b| a < b));
        assert_eq!(CountryCode::all().len(), 250);
        for code in ASSIGNED {
            assert!(code.len() == 2 && code.bytes().all(|b| b.is_ascii_uppercase()), "{code}");
        }
    }

    #[test]
    fn d26_every_code_is_found_in_any_case() {
        for code in ASSIGNED {
            assert_eq!(CountryCode::parse(code).unwrap().as_str(), code);
            assert_eq!(CountryCode::parse(&code.to_ascii_lowercase()).unwrap().to_string(), code);
        }
    }

    #[test]
    fn d26_unassigned_codes_are_invalid_values() {
        for text in ["", "D", "DEU", "XX", "ZZ", "UK", "EU", "AN", " DE", "DE ", "D\u{130}", "276", "ｄｅ"]
        {
            assert_eq!(CountryCode::parse(text).unwrap_err().code(), ViolationCode::InvalidValue, "{text:?}");
        }
    }

    #[test]
    fn d26_the_message_suggests_the_right_code() {
        let message = |text| CountryCode::parse(text).unwrap_err().message().to_owned();
        assert_eq!(message("uk"), "must be a two-letter country code of ISO 3166-1 (did you mean GB?)");
        assert!(message("AN").ends_with("(did you mean BQ, CW or SX?)"));
        assert!(message("XX").ends_with("such as DE"));
    }

    #[test]
    fn d26_mistaken_codes_are_sorted_and_their_meanings_assigned() {
        assert!(MISTAKEN.is_sorted_by(|(a, _), (b, _)| a < b));
        for (mistaken, meant) in MISTAKEN {
            assert!(!ASSIGNED.contains(&mistaken), "{mistaken} is assigned");
            for code in meant.split([' ', ',']).filter(|word| !matches!(*word, "" | "or")) {
                assert!(ASSIGNED.contains(&code), "{mistaken}: {code}");
            }
        }
    }

    proptest! {
        #[test]
        fn d26_a_code_is_two_letters_of_the_table_or_nothing(text in "\\PC{0,3}") {
            let expected = ASSIGNED.contains(&text.to_ascii_uppercase().as_str());
            prop_assert_eq!(CountryCode::parse(&text).is_ok(), expected);
        }
    }
}
