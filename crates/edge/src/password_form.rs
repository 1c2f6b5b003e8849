//! The form in which a visitor sends the password of a link (D131).

use actix_http::header::{self, HeaderValue};
use actix_http::{HttpMessage as _, Payload, Request};
use futures_util::StreamExt as _;
use signpost_domain::LinkPassword;
use signpost_pages::PasswordPage;
use url::form_urlencoded;

/// How many bytes of a form are read.
pub(crate) const MOST_SENT: usize = 2 * 1024;

/// How many bytes its password may have, before it is brought into Unicode's form NFC.
const MOST_DECODED: usize = 1024;

/// Why a form cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FormError {
    /// It is no form.
    OtherType,
    /// It, or its password, is too long.
    TooLarge,
    /// It did not arrive.
    Incomplete,
}

/// Reads the password in the body of a request. `None` if what was sent cannot be one.
pub(crate) async fn typed_password(
    request: &Request,
    mut body: Payload,
) -> Result<Option<LinkPassword>, FormError> {
    let headers = request.headers();
    if !headers.get(header::CONTENT_TYPE).is_some_and(is_form)
        || headers.contains_key(header::CONTENT_ENCODING)
    {
        return Err(FormError::OtherType);
    }
    // A body that is declared too long is not waited for.
    if declared_length(request).is_some_and(|length| length > MOST_SENT) {
        return Err(FormError::TooLarge);
    }
    let mut form = Vec::new();
    while let Some(piece) = body.next().await {
        let piece = piece.map_err(|_| FormError::Incomplete)?;
        if form.len() + piece.len() > MOST_SENT {
            return Err(FormError::TooLarge);
        }
        form.extend_from_slice(&piece);
    }
    password_in(&form)
}

/// What `Content-Length` says. The parser of requests has refused what is no number.
fn declared_length(request: &Request) -> Option<usize> {
    request.headers().get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Whether it is the media type of forms, with or without parameters.
fn is_form(content_type: &HeaderValue) -> bool {
    let media_type = content_type.as_bytes().split(|byte| *byte == b';').next().unwrap_or_default();
    media_type.trim_ascii().eq_ignore_ascii_case(b"application/x-www-form-urlencoded")
}

/// The password in a form.
fn password_in(form: &[u8]) -> Result<Option<LinkPassword>, FormError> {
    let field = form_urlencoded::parse(form).find(|(name, _)| name == PasswordPage::FIELD);
    let value = field.map(|(_, value)| value).unwrap_or_default();
    if value.len() > MOST_DECODED {
        return Err(FormError::TooLarge);
    }
    Ok(LinkPassword::choose(&value).ok())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn password(form: &str) -> Option<String> {
        let password = password_in(form.as_bytes()).unwrap();
        password.map(|password| password.as_password().expose().to_owned())
    }

    #[test]
    fn d131_the_first_field_of_the_name_is_the_password() {
        for (form, expected) in [
            ("password=plover", Some("plover")),
            ("a=b&password=plover+egg&password=other", Some("plover egg")),
            ("p%61ssword=%2B%26%3D+%C3%A9t%C3%A9", Some("+&= été")),
            ("password=a=b=c", Some("a=b=c")),
            // In Unicode's form NFC, with four characters.
            ("password=e%CC%81e%CC%81e%CC%81e%CC%81", Some("éééé")),
            ("password=e%CC%81e%CC%81", None),
            ("password=%zz%2", Some("%zz%2")),
            // What is no UTF-8 is replaced, as browsers never send it.
            ("password=%FF%FF%FF%FF", Some("\u{fffd}\u{fffd}\u{fffd}\u{fffd}")),
            ("password=", None),
            ("password", None),
            ("Password=plover", None),
            ("passwords=plover", None),
            ("{\"password\":\"plover\"}", None),
            ("", None),
            ("&&=&", None),
        ] {
            assert_eq!(password(form).as_deref(), expected, "{form}");
        }
    }

    #[test]
    fn d131_a_password_of_more_than_1_kib_is_too_large_however_it_is_encoded() {
        for (letter, number) in [("x", 1_024), ("%78", 1_024), ("%C3%A9", 512), ("+", 1_024)] {
            let at_most = format!("password={}", letter.repeat(number));
            assert_eq!(password_in(at_most.as_bytes()), Ok(None), "no password has that many characters");
            assert_eq!(password_in(format!("{at_most}x").as_bytes()), Err(FormError::TooLarge));
        }
    }

    #[test]
    fn d131_only_the_media_type_of_forms_is_read() {
        for (content_type, expected) in [
            ("application/x-www-form-urlencoded", true),
            ("Application/X-WWW-Form-Urlencoded ; charset=UTF-8", true),
            ("application/json", false),
            ("multipart/form-data; boundary=x", false),
            ("text/plain", false),
            ("application/x-www-form-urlencoded2", false),
            ("", false),
        ] {
            assert_eq!(is_form(&HeaderValue::from_static(content_type)), expected, "{content_type}");
        }
    }

    proptest! {
        #[test]
        fn d131_what_a_browser_encodes_is_read_as_it_was_typed(text in "\\PC{4,60}") {
            let encoded = percent_encoding::utf8_percent_encode(&text, percent_encoding::NON_ALPHANUMERIC);
            let expected = LinkPassword::choose(&text).ok();
            let expected = expected.map(|password| password.as_password().expose().to_owned());
            prop_assert_eq!(password(&format!("password={encoded}")), expected);
        }

        #[test]
        fn d131_any_bytes_are_read_without_a_panic(form: Vec<u8>) {
            let _ = password_in(&form);
        }
    }
}
