//! The commands with which a program does what a page does. Each of them works with the key in `SIGNPOST_KEY`.

use serde_json::Value;

use crate::views::CurlExample;

/// A command without a body.
pub(crate) fn read(api_url: &str, title: &str, path_and_query: &str) -> CurlExample {
    example(
        title,
        format!("curl {} \\\n  -H \"Authorization: Bearer $SIGNPOST_KEY\"", quoted(api_url, path_and_query)),
    )
}

/// A command with another method than GET, and without a body.
pub(crate) fn send(api_url: &str, title: &str, method: &str, path: &str) -> CurlExample {
    example(
        title,
        format!(
            "curl -X {method} {} \\\n  -H \"Authorization: Bearer $SIGNPOST_KEY\"",
            quoted(api_url, path)
        ),
    )
}

/// A command with a body of JSON.
pub(crate) fn send_json(api_url: &str, title: &str, method: &str, path: &str, body: &Value) -> CurlExample {
    // A quote ends the text of the shell, so it is written outside of it.
    let body = body.to_string().replace('\'', "'\\''");
    let method = if method == "POST" { String::new() } else { format!("-X {method} ") };
    example(
        title,
        format!(
            "curl {method}{} \\\n  -H \"Authorization: Bearer $SIGNPOST_KEY\" \\\n  -H \"Content-Type: application/json\" \\\n  \
             -d '{body}'",
            quoted(api_url, path)
        ),
    )
}

/// A command of the program, of these words.
pub(crate) fn program(title: &str, words: &[&str]) -> CurlExample {
    let words = words.iter().fold("signpost".to_owned(), |line, word| format!("{line} {}", shell_word(word)));
    example(title, words)
}

/// A text as one word of the shell.
fn shell_word(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"@%+=:,./_-".contains(&byte);
    if !text.is_empty() && text.bytes().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

fn example(title: &str, command: String) -> CurlExample {
    CurlExample { title: title.to_owned(), command }
}

/// An address as one word of the shell.
fn quoted(api_url: &str, path: &str) -> String {
    let address = format!("{api_url}{path}");
    if address.contains(['?', '&', '\'']) { format!("'{}'", address.replace('\'', "%27")) } else { address }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_text_cannot_leave_its_quotes() {
        let body = json!({ "name": "it's $HOME `x`" });
        let command = send_json("http://localhost:8080", "", "POST", "/v1/groups", &body).command;
        assert!(command.ends_with(r#"-d '{"name":"it'\''s $HOME `x`"}'"#), "{command}");
        let command = read("http://localhost:8080", "", "/v1/redirects?q=it's").command;
        assert!(command.contains("'http://localhost:8080/v1/redirects?q=it%27s'"), "{command}");
        let command = program("", &["user", "list", "it's", "$(x)", ""]).command;
        assert_eq!(command, r"signpost user list 'it'\''s' '$(x)' ''");
    }
}
