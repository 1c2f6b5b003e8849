//! Reads TOML without repeating it in messages, because any line may hold a password.

use serde::de::DeserializeOwned;

/// Parses the text of a file.
///
/// # Errors
/// The place and the problem, as in `line 3, column 5: …`.
pub(super) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|error| {
        let problem = error.message();
        let before = error.span().and_then(|span| text.get(..span.start));
        before.map_or_else(|| problem.to_owned(), |before| format!("{}: {problem}", end_of(before)))
    })
}

/// The line and the column after a text.
fn end_of(text: &str) -> String {
    let (line, rest) = (text.matches('\n').count() + 1, text.rsplit('\n').next().unwrap_or_default());
    format!("line {line}, column {}", rest.chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r28_a_message_names_the_place_and_repeats_no_value() {
        for (text, place) in [
            ("log-format = 'text'\ndatabase-url = 'postgres://u:secret@db", "line 2, column "),
            ("database-url = postgres://u:secret@db", "line 1, column "),
            ("\nredis-url = 'redis://:secret@r' 'x'", "line 2, column "),
            ("redis-url = 'redis://:secret@r'\nredis-url = 'redis://:secret@r'", "line 2, column 1: "),
            ("redis-url = \"redis://:secret\\q@r\"", "line 1, column "),
        ] {
            let message = parse::<toml::Table>(text).unwrap_err();
            assert!(message.starts_with(place) && !message.contains("secret"), "{message}");
            assert!(!message.contains('\n'), "{message}");
        }
    }
}
