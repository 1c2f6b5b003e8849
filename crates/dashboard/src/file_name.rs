//! The names of files that pages offer to save.

use signpost_domain::{Account, Preferences, Timestamp};
use url::form_urlencoded::byte_serialize;

use crate::frame::account_name;

/// The longest part of a file's name that a name gives, in characters.
const LONGEST_PART: usize = 40;

/// A name in the name of a file, and the id that stands for it if the name has no letter or digit.
pub(crate) struct NamePart<'a> {
    pub(crate) name: &'a str,
    pub(crate) id: &'a str,
}

/// The value of `Content-Disposition` for a file of an account, such as `attachment; filename="links-bakery-2026-11-28.csv"`. It has
/// only characters that every file system takes. If the account has letters outside ASCII, a second name has them (RFC 6266).
pub(crate) fn saved_as(what: &str, account: &Account, rest: &str, extension: &str) -> String {
    saved_about(what, account, &[], rest, extension)
}

/// As [`saved_as`], for a file about something in the account, such as a group.
pub(crate) fn saved_about(
    what: &str,
    account: &Account,
    about: &[NamePart<'_>],
    rest: &str,
    extension: &str,
) -> String {
    let id = account.id.to_string();
    let named = NamePart { name: account_name(account), id: &id };
    let name = |is_kept: fn(char) -> bool| {
        let parts = std::iter::once(&named).chain(about);
        let parts: Vec<String> =
            parts.map(|part| part_of(part.name, is_kept).unwrap_or_else(|| part.id.to_owned())).collect();
        format!("{what}-{}-{rest}.{extension}", parts.join("-"))
    };
    let plain = name(|character| character.is_ascii_alphanumeric());
    let full = name(char::is_alphanumeric);
    let value = attachment(&plain);
    if full == plain {
        return value;
    }
    // Names have no space, which this would write as a plus.
    let encoded: String = byte_serialize(full.as_bytes()).collect();
    format!("{value}; filename*=UTF-8''{encoded}")
}

/// The value of `Content-Disposition` for a file of this name, which has only ASCII letters, digits and `-_.`.
pub(crate) fn attachment(name: &str) -> String {
    format!("attachment; filename=\"{name}\"")
}

/// The day of an instant for the person, such as `2026-11-28`.
pub(crate) fn day(at: Timestamp, preferences: &Preferences) -> String {
    let local = preferences.time_zone.local(at);
    format!("{:04}-{:02}-{:02}", local.year, local.month, local.day)
}

/// The beginning of a name in small letters and digits of some kind, with hyphens between them. `None` without any.
fn part_of(name: &str, is_kept: impl Fn(char) -> bool) -> Option<String> {
    let mut part = String::new();
    let mut length = 0;
    for character in name.chars() {
        if length >= LONGEST_PART {
            break;
        }
        if is_kept(character) {
            part.extend(character.to_lowercase());
            length += 1;
        } else if !part.is_empty() && !part.ends_with('-') {
            part.push('-');
            length += 1;
        }
    }
    let part = part.trim_end_matches('-');
    (!part.is_empty()).then(|| part.to_owned())
}

#[cfg(test)]
mod tests {
    use signpost_domain::{AccountId, Email, Name, PlanName};

    use super::*;

    fn account(name: Option<&str>) -> Account {
        Account {
            id: AccountId::from_bytes([7; 16]),
            email: Email::parse("Team@example.com").unwrap(),
            name: name.map(|name| Name::parse(name).unwrap()),
            plan: PlanName::parse("free").unwrap(),
            suspended_at: None,
            requires_second_factor: false,
            created_at: Timestamp::EPOCH,
        }
    }

    #[test]
    fn a_file_is_named_after_the_account_in_plain_characters() {
        let long = "a".repeat(60);
        for (name, part) in [
            (Some("Morgenbrot  Bakery"), "morgenbrot-bakery"),
            (Some("\u{2026}/../\"x\"\u{202e}"), "x"),
            (Some(long.as_str()), &long[..40]),
            (None, "team-example-com"),
        ] {
            let name = saved_as("links", &account(name), "2026-11-28", "csv");
            assert_eq!(name, format!("attachment; filename=\"links-{part}-2026-11-28.csv\""));
        }
    }

    #[test]
    fn a_file_about_a_group_has_its_name_or_its_id() {
        let account = account(Some("Bakery"));
        let about = |name| [NamePart { name, id: "grp_1" }, NamePart { name: "go.example.com", id: "" }];
        for (name, part, second) in [
            ("Spring sale", "spring-sale", None),
            ("B\u{e4}ume", "b-ume", Some("b%C3%A4ume")),
            ("!", "grp_1", None),
        ] {
            let value = saved_about("statistics", &account, &about(name), "2026", "csv");
            let plain = format!("attachment; filename=\"statistics-bakery-{part}-go-example-com-2026.csv\"");
            let expected = match second {
                Some(second) => {
                    format!("{plain}; filename*=UTF-8''statistics-bakery-{second}-go-example-com-2026.csv")
                }
                None => plain,
            };
            assert_eq!(value, expected);
        }
    }

    #[test]
    fn letters_outside_ascii_are_in_a_second_name() {
        let id = account(None).id.to_string();
        let longest = ("\u{1d50a} ".repeat(30), "%F0%9D%94%8A-".repeat(20));
        for (name, plain, full) in [
            ("B\u{e4}ckerei M\u{fc}ller", "b-ckerei-m-ller", "b%C3%A4ckerei-m%C3%BCller"),
            ("\u{642}\u{647}\u{648}\u{629}", id.as_str(), "%D9%82%D9%87%D9%88%D8%A9"),
            (&longest.0, &id, longest.1.trim_end_matches('-')),
        ] {
            let value = saved_as("links", &account(Some(name)), "2026-11-28", "csv");
            let names = format!(
                "filename=\"links-{plain}-2026-11-28.csv\"; filename*=UTF-8''links-{full}-2026-11-28.csv"
            );
            assert_eq!(value, format!("attachment; {names}"));
            assert!(value.is_ascii() && value.len() < 700, "{value}");
        }
    }
}
