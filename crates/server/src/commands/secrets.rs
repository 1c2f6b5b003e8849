//! Keeps API keys on the command line out of every message.

use std::borrow::Cow;
use std::ffi::OsStr;

use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use clap::{Arg, Command};
use signpost_app::keys::KeyReference;
use signpost_domain::{ApiKeyId, ApiKeySecret};

/// The prefix of every API key.
const KEY_PREFIX: &str = "sp_live_";

/// Replaces the rest of a key in messages.
const ELLIPSIS: char = '…';

/// Cuts every key in the text, whole or partial, down to its prefix.
pub(crate) fn without_keys(text: &str) -> Cow<'_, str> {
    if !text.contains(KEY_PREFIX) {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split(KEY_PREFIX);
    let mut clean = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = without_rest_of_key(part);
        clean.push_str(KEY_PREFIX);
        if rest.len() < part.len() {
            clean.push(ELLIPSIS);
        }
        clean.push_str(rest);
    }
    Cow::Owned(clean)
}

/// The number of characters after the prefix of a key (D13).
const KEY_CHARS: usize = 32;

/// The text after a key. White space may break the key in two, as copying from a terminal does.
fn without_rest_of_key(text: &str) -> &str {
    let end_of_word = |text: &'_ str| text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len());
    let first = end_of_word(text);
    let rest = text.get(first..).unwrap_or_default();
    let spaces = rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len());
    let broken_off = rest.get(spaces..).unwrap_or_default();
    let second = end_of_word(broken_off);
    if first > 0 && spaces > 0 && first + second == KEY_CHARS {
        return broken_off.get(second..).unwrap_or_default();
    }
    rest
}

/// Reads a key's id or a key. A malformed value may be most of a key, so the message does not quote it.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeyReferenceParser;

impl TypedValueParser for KeyReferenceParser {
    type Value = KeyReference;

    fn parse_ref(
        &self,
        command: &Command,
        _: Option<&Arg>,
        value: &OsStr,
    ) -> Result<KeyReference, clap::Error> {
        let text = value.to_str().unwrap_or_default().trim();
        if let Ok(id) = text.parse::<ApiKeyId>() {
            return Ok(id.into());
        }
        if let Ok(secret) = ApiKeySecret::parse(text) {
            return Ok(secret.into());
        }
        let message = if text.starts_with(KEY_PREFIX) {
            "the value of <KEY> is not a valid API key: a character is missing or wrong; copy the whole key, or give its id \
             (key_…), as `signpost key list` shows it"
        } else {
            "the value of <KEY> is neither an API key id (key_…) nor an API key (sp_live_…)"
        };
        Err(command.clone().error(ErrorKind::ValueValidation, message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d13_no_message_repeats_a_key_or_a_part_of_one() {
        let key = ApiKeySecret::from_random([5; 32]);
        let key = key.expose();
        for (text, expected) in [
            ("nothing to hide: key_1".to_owned(), "nothing to hide: key_1"),
            (format!("invalid value '{key}' for '--account'"), "invalid value 'sp_live_…' for '--account'"),
            (format!("{key} and {key}"), "sp_live_… and sp_live_…"),
            (format!("{key}{key}"), "sp_live_…sp_live_…"),
            (format!("'{}'", &key[..20]), "'sp_live_…'"),
            (format!("'{}\n  {}' for", &key[..20], &key[20..]), "'sp_live_…' for"),
            ("an API key (sp_live_…)".to_owned(), "an API key (sp_live_…)"),
            ("sp_live_".to_owned(), "sp_live_"),
        ] {
            assert_eq!(without_keys(&text), expected);
        }
    }
}
