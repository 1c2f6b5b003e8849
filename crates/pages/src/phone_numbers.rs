//! Telephone numbers as people read them.

use signpost_domain::PhoneNumber;

/// The country codes of one and two digits (ITU-T E.164). All others have three.
const SHORT_COUNTRY_CODES: [&str; 46] = [
    "1", "7", "20", "27", "30", "31", "32", "33", "34", "36", "39", "40", "41", "43", "44", "45", "46", "47",
    "48", "49", "51", "52", "53", "54", "55", "56", "57", "58", "60", "61", "62", "63", "64", "65", "66",
    "81", "82", "84", "86", "90", "91", "92", "93", "94", "95", "98",
];

const NO_BREAK_SPACE: char = '\u{a0}';

/// The number with no-break spaces after the country code and between groups of two to four digits, such as
/// `+1 202 555 0123`. Countries group their numbers in many ways, so these groups only help reading.
pub(crate) fn spaced(number: &PhoneNumber) -> String {
    let digits = number.digits();
    let is_code = |code: &&&str| digits.starts_with(**code);
    let code_length = SHORT_COUNTRY_CODES.iter().find(is_code).map_or(3, |code| code.len());
    let (code, mut rest) = digits.split_at_checked(code_length).unwrap_or((digits, ""));
    let mut text = format!("+{code}");
    while !rest.is_empty() {
        let length = if rest.len() > 4 { 3 } else { rest.len() };
        let (group, later) = rest.split_at_checked(length).unwrap_or((rest, ""));
        text.push(NO_BREAK_SPACE);
        text.push_str(group);
        rest = later;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d35_numbers_are_shown_in_groups() {
        for (number, shown) in [
            ("+12025550123", "+1 202 555 0123"),
            ("+442079460958", "+44 207 946 0958"),
            ("+4915112345678", "+49 151 123 456 78"),
            ("+33612345678", "+33 612 345 678"),
            ("+351912345678", "+351 912 345 678"),
            ("+6834000", "+683 4000"),
            ("+123456789012345", "+1 234 567 890 123 45"),
            ("+982112345678", "+98 211 234 5678"),
        ] {
            let expected = shown.replace(' ', "\u{a0}");
            assert_eq!(spaced(&PhoneNumber::parse(number).unwrap()), expected);
        }
    }
}
