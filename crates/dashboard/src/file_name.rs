//! The names of files that pages offer to save.

use signpost_domain::{Account, Preferences, Timestamp};

use crate::frame::account_name;

/// The longest part of a name that the account gives, in bytes.
const LONGEST_ACCOUNT: usize = 40;

/// The value of `Content-Disposition` for a file of an account, such as `attachment; filename="links-bakery-2026-11-28.csv"`. It has
/// only characters that every file system takes.
pub(crate) fn saved_as(what: &str, account: &Account, rest: &str, extension: &str) -> String {
    let account = account_part(account);
    format!("attachment; filename=\"{what}-{account}-{rest}.{extension}\"")
}

/// The day of an instant for the person, such as `2026-11-28`.
pub(crate) fn day(at: Timestamp, preferences: &Preferences) -> String {
    let local = preferences.time_zone.local(at);
    format!("{:04}-{:02}-{:02}", local.year, local.month, local.day)
}

/// The name of the account in small ASCII letters and digits. Without any, its id.
fn account_part(account: &Account) -> String {
    let mut part = String::new();
    for character in account_name(account).chars() {
        if character.is_ascii_alphanumeric() {
            part.push(character.to_ascii_lowercase());
        } else if !part.is_empty() && !part.ends_with('-') {
            part.push('-');
        }
        if part.len() == LONGEST_ACCOUNT {
            break;
        }
    }
    let part = part.trim_end_matches('-');
    if part.is_empty() { account.id.to_string() } else { part.to_owned() }
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
            (Some("\u{2026}/../\"x\"\u{e9}"), "x"),
            (Some(long.as_str()), &long[..40]),
            (None, "team-example-com"),
        ] {
            let name = saved_as("links", &account(name), "2026-11-28", "csv");
            assert_eq!(name, format!("attachment; filename=\"links-{part}-2026-11-28.csv\""));
        }
        let account = account(Some("قائمة"));
        assert_eq!(account_part(&account), account.id.to_string());
    }
}
