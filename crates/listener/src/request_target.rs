//! Percent-encodes raw bytes of a request target that the codec refuses.
//!
//! Links are pasted into all kinds of programs, and some send `ü`, `"` or `<` in a query as they are. RFC 3986 permits none of
//! these, so the codec would refuse the request, and the visitor would see an error for a good link (D53).

use bytes::{BufMut as _, BytesMut};

/// The encoded target would be longer than it may be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TargetTooLong;

/// Encodes the bytes of the target that a URI cannot hold, in `input`, which begins with a complete head. `longest` limits the
/// request line. Returns whether it changed something.
///
/// It changes nothing but visible bytes between the method and the version, and adds only `%` and hexadecimal digits. Spaces and
/// line breaks stay where they are, so the request line has the same parts and the head the same end as before. The headers, a
/// body and the next request are not touched.
pub(crate) fn encode(input: &mut BytesMut, longest: usize) -> Result<bool, TargetTooLong> {
    let begin = input.iter().position(|byte| !matches!(byte, b'\r' | b'\n')).unwrap_or(input.len());
    let line = input.get(begin..).unwrap_or_default();
    let line = line.split(|byte| matches!(byte, b'\r' | b'\n')).next().unwrap_or_default();
    // Without a space the line has no target, and the codec refuses it.
    let Some(space) = memchr::memchr(b' ', line) else { return Ok(false) };
    let (before, after) = line.split_at(space + 1);
    let target = after.split(|byte| *byte == b' ').next().unwrap_or_default();
    let raw = target.iter().filter(|byte| is_encoded(**byte)).count();
    if raw == 0 {
        return Ok(false);
    }
    let added = 2 * raw;
    if line.len() + added > longest {
        return Err(TargetTooLong);
    }
    let (start, end) = (begin + before.len(), begin + before.len() + target.len());
    let mut encoded = BytesMut::with_capacity(input.len() + added);
    encoded.extend_from_slice(input.get(..start).unwrap_or_default());
    for byte in target {
        if is_encoded(*byte) {
            encoded.put_u8(b'%');
            encoded.extend_from_slice(&[hexadecimal(byte >> 4), hexadecimal(byte & 0xf)]);
        } else {
            encoded.put_u8(*byte);
        }
    }
    encoded.extend_from_slice(input.get(end..).unwrap_or_default());
    *input = encoded;
    Ok(true)
}

/// Whether a byte is visible, or a part of a character, but has no place in a URI. Control characters are not encoded: HTTP
/// forbids them in a request line, and no link has them.
const fn is_encoded(byte: u8) -> bool {
    matches!(byte, b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}' | 0x80..)
}

const fn hexadecimal(digit: u8) -> u8 {
    match digit {
        0..=9 => b'0' + digit,
        _ => b'A' + digit - 10,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LONGEST: usize = 200;

    fn encoded(input: &[u8]) -> Result<Vec<u8>, TargetTooLong> {
        let mut buffer = BytesMut::from(input);
        let has_changed = encode(&mut buffer, LONGEST)?;
        assert_eq!(has_changed, buffer != input);
        Ok(buffer.to_vec())
    }

    #[track_caller]
    fn becomes(input: &str, expected: &str) {
        assert_eq!(String::from_utf8(encoded(input.as_bytes()).unwrap()).unwrap(), expected);
    }

    #[test]
    fn d53_raw_bytes_of_the_target_are_percent_encoded() {
        for (target, expected) in [
            ("/a?q=\"<>\\^`{|}", "/a?q=%22%3C%3E%5C%5E%60%7B%7C%7D"),
            ("/größe?q=日", "/gr%C3%B6%C3%9Fe?q=%E6%97%A5"),
            ("http://go.example/ä", "http://go.example/%C3%A4"),
            ("/a?q=%&p=%zz&r=%00#f'()*[]", "/a?q=%&p=%zz&r=%00#f'()*[]"),
            ("/a\u{1}\u{7f}", "/a\u{1}\u{7f}"),
        ] {
            becomes(
                &format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n"),
                &format!("GET {expected} HTTP/1.1\r\nHost: a\r\n\r\n"),
            );
        }
    }

    #[test]
    fn r27_only_the_target_of_the_first_request_changes() {
        for same in [
            "",
            "\r\n\r\n",
            "GET\r\nü: ü\r\n\r\n",
            "GÉT /a HTTP/1.1\r\n\r\n",
            "GET /a HTTP/1.1 ü\r\nHost: \"ü\"\r\n\r\nü \"b\" <c>\r\n",
            "GET  ü HTTP/1.1\r\n\r\n",
            "POST /a HTTP/1.1\r\ncontent-length: 9\r\n\r\nGET /ü \"GET /ü HTTP/1.1\r\n\r\n",
        ] {
            becomes(same, same);
        }
        becomes("\r\nGET /ü\rX: ü\r\n\r\n", "\r\nGET /%C3%BC\rX: ü\r\n\r\n");
        becomes(
            "GET /ü HTTP/1.1\r\n\r\nGET /ü HTTP/1.1\r\n\r\n",
            "GET /%C3%BC HTTP/1.1\r\n\r\nGET /ü HTTP/1.1\r\n\r\n",
        );
    }

    #[test]
    fn r26_encoded_request_line_is_bounded() {
        let input = |raw: usize| format!("GET /{} HTTP/1.1\r\n\r\n", "\"".repeat(raw));
        let fits = (LONGEST - "GET / HTTP/1.1".len()) / 3;
        assert!(encoded(input(fits).as_bytes()).unwrap().len() <= LONGEST + 4);
        assert_eq!(encoded(input(fits + 1).as_bytes()), Err(TargetTooLong));
    }

    proptest! {
        /// Whatever arrives, a reader who decodes the target sees the same bytes, in the same lines and parts.
        #[test]
        fn r27_no_part_begins_or_ends_elsewhere(input in proptest::collection::vec(
            prop_oneof![Just(b' '), Just(b'\r'), Just(b'\n'), Just(b'"'), Just(b'/'), any::<u8>()], 0..60,
        )) {
            let encoded = encoded(&input).unwrap();
            let separators = |bytes: &[u8]| {
                bytes.iter().copied().filter(|byte| byte.is_ascii_whitespace() || *byte < b' ').collect::<Vec<_>>()
            };
            prop_assert_eq!(separators(&input), separators(&encoded));
            prop_assert!(encoded.len() <= 3 * input.len());
            let mut again = BytesMut::from(&*encoded);
            prop_assert_eq!(encode(&mut again, LONGEST), Ok(false), "encoding twice changes nothing");
        }
    }
}
