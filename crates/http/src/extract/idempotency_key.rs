//! The header `Idempotency-Key` (D12).

use actix_web::http::header::HeaderMap;
use signpost_domain::{FieldError, IdempotencyKey, Violation, ViolationCode};

/// The header, and the field of its violations.
pub(crate) const NAME: &str = "Idempotency-Key";

/// The key of a request, if it has one.
///
/// # Errors
/// The header occurs more than once, or its value is no valid key.
pub(crate) fn read(headers: &HeaderMap) -> Result<Option<IdempotencyKey>, Violation> {
    let mut values = headers.get_all(NAME);
    let Some(value) = values.next() else { return Ok(None) };
    let error = |message| FieldError::new(ViolationCode::InvalidFormat, message).at(NAME);
    if values.next().is_some() {
        return Err(error("must occur once in the request"));
    }
    let text = value.to_str().map_err(|_| error("must consist of visible ASCII characters"))?;
    IdempotencyKey::parse(text).map(Some).map_err(|error| error.at(NAME))
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::{HeaderName, HeaderValue};

    use super::*;

    fn read_of(values: &[&[u8]]) -> Result<Option<String>, ViolationCode> {
        let mut headers = HeaderMap::new();
        for value in values {
            let name = HeaderName::from_static("idempotency-key");
            headers.append(name, HeaderValue::from_bytes(value).unwrap());
        }
        let key = read(&headers).map_err(|violation| {
            assert_eq!(violation.field(), NAME);
            violation.code()
        })?;
        Ok(key.map(|key| key.as_str().to_owned()))
    }

    /// Contract D12: one key of 1 to 255 visible ASCII characters, or none.
    #[test]
    fn d12_a_request_carries_one_key_or_none() {
        assert_eq!(read_of(&[]), Ok(None));
        assert_eq!(read_of(&[b"order-1"]), Ok(Some("order-1".to_owned())));
        assert_eq!(read_of(&[b"a", b"a"]), Err(ViolationCode::InvalidFormat));
        assert_eq!(read_of(&[b""]), Err(ViolationCode::TooShort));
        assert_eq!(read_of(&[&[b'k'; 256]]), Err(ViolationCode::TooLong));
        assert_eq!(read_of(&["\u{e9}".as_bytes()]), Err(ViolationCode::InvalidFormat));
    }
}
