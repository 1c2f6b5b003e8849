//! Requests with an ambiguous end, in which two servers in a row could see different requests (R27).
//!
//! The tests send [`SMUGGLED`] after each of them, which no server may execute.

/// The request that is smuggled behind another.
pub const SMUGGLED: &str = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";

/// Heads that are invalid or frame their body in two ways: a label, and the lines after `Host`.
const LINES: &[(&str, &str)] = &[
    ("two equal lengths", "Content-Length: 5\r\nContent-Length: 5\r\n"),
    ("two lengths", "Content-Length: 5\r\nContent-Length: 6\r\n"),
    ("no length and a length", "Content-Length: 0\r\nContent-Length: 5\r\n"),
    ("two lengths in one line", "Content-Length: 5, 5\r\n"),
    ("two lengths without a space", "Content-Length: 0,5\r\n"),
    ("two lengths and a space", "Content-Length: 5 5\r\n"),
    ("a length with a plus", "Content-Length: +5\r\n"),
    ("a length with a minus", "Content-Length: -5\r\n"),
    ("a length in base 16", "Content-Length: 0x5\r\n"),
    ("a length with a fraction", "Content-Length: 5.0\r\n"),
    ("a length with an exponent", "Content-Length: 5e0\r\n"),
    ("a length in quotes", "Content-Length: \"5\"\r\n"),
    ("a length with an underscore", "Content-Length: 5_0\r\n"),
    ("a length with a parameter", "Content-Length: 5;a\r\n"),
    ("an empty length", "Content-Length:\r\n"),
    ("a length of a space", "Content-Length: \r\n"),
    ("a length beyond 64 bits", "Content-Length: 18446744073709551621\r\n"),
    ("a length behind a vertical tab", "Content-Length: \u{b}5\r\n"),
    ("a length with another script's digit", "Content-Length: \u{665}\r\n"),
    ("a length, then chunks", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"),
    ("chunks, then a length", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"),
    ("no length and chunks", "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n"),
    ("a length and an unknown coding", "Content-Length: 5\r\nTransfer-Encoding: x\r\n"),
    ("a length and identity", "Content-Length: 5\r\nTransfer-Encoding: identity\r\n"),
    ("chunks in capitals and a length", "TRANSFER-ENCODING: CHUNKED\r\nContent-Length: 5\r\n"),
    ("two codings", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
    ("two codings, one unknown", "Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n"),
    ("two codings in one line", "Transfer-Encoding: chunked, chunked\r\n"),
    ("an unknown coding", "Transfer-Encoding: xchunked\r\n"),
    ("a coding that is cut", "Transfer-Encoding: chunke\r\n"),
    ("a coding in quotes", "Transfer-Encoding: \"chunked\"\r\n"),
    ("a coding with a parameter", "Transfer-Encoding: chunked;q=1\r\n"),
    ("identity", "Transfer-Encoding: identity\r\n"),
    ("chunks that are not last", "Transfer-Encoding: chunked, identity\r\n"),
    ("compression", "Transfer-Encoding: gzip\r\n"),
    ("compressed chunks", "Transfer-Encoding: gzip, chunked\r\n"),
    ("chunked compression", "Transfer-Encoding: chunked, gzip\r\n"),
    ("an empty coding", "Transfer-Encoding:\r\n"),
    ("a coding behind a vertical tab", "Transfer-Encoding: \u{b}chunked\r\n"),
    ("a coding with a tab inside", "Transfer-Encoding: chun\tked\r\n"),
    ("a space before a colon", "Content-Length : 5\r\n"),
    ("a tab before a colon", "Transfer-Encoding\t: chunked\r\n"),
    ("a space before a name", " Content-Length: 5\r\n"),
    ("a folded line", "X: a\r\n Transfer-Encoding: chunked\r\n"),
    ("a line folded by a tab", "X: a\r\n\tContent-Length: 5\r\n"),
    ("a folded coding", "Transfer-Encoding:\r\n chunked\r\n"),
    ("a line without a colon", "Content-Length 5\r\n"),
    ("a line without a name", ": 5\r\n"),
    ("a bare line feed in a value", "X: a\nTransfer-Encoding: chunked\r\n"),
    ("a bare line feed at the end of a line", "Content-Length: 5\n"),
    ("a bare carriage return in a value", "X: a\rTransfer-Encoding: chunked\r\n"),
    ("two carriage returns", "Content-Length: 5\r\r\n"),
    ("a NUL in a value", "X: a\0b\r\n"),
    ("a NUL in a name", "Content\0Length: 5\r\n"),
    ("a second host", "Host: b\r\n"),
    ("the same host again", "Host: a\r\n"),
];

/// Complete heads that are not valid HTTP.
const HEADS: &[(&str, &str)] = &[
    ("no host", "GET / HTTP/1.1\r\n\r\n"),
    ("bare line feeds", "GET / HTTP/1.1\nHost: a\n\n"),
    ("a bare line feed before the end", "GET / HTTP/1.1\r\nHost: a\n\r\n"),
    ("a bare line feed at the end", "GET / HTTP/1.1\r\nHost: a\r\n\n"),
    ("a request line that ends in a line feed", "GET / HTTP/1.1\nHost: a\r\n\r\n"),
    ("bare line feeds behind empty lines", "\r\n\r\nGET / HTTP/1.1\nHost: a\n\n"),
    ("an empty line of a line feed", "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"),
    ("two spaces", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n"),
    ("tabs for spaces", "GET\t/\tHTTP/1.1\r\nHost: a\r\n\r\n"),
    ("a space at the end of the line", "GET / HTTP/1.1 \r\nHost: a\r\n\r\n"),
    ("two targets", "GET / /x HTTP/1.1\r\nHost: a\r\n\r\n"),
    ("a space in the target", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n"),
    ("no version", "GET /\r\nHost: a\r\n\r\n"),
    ("a version in small letters", "GET / http/1.1\r\nHost: a\r\n\r\n"),
    ("a version with a zero", "GET / HTTP/01.1\r\nHost: a\r\n\r\n"),
    ("a longer version", "GET / HTTP/1.10\r\nHost: a\r\n\r\n"),
    ("another version", "GET / HTTP/1.2\r\nHost: a\r\n\r\n"),
    ("HTTP/2 in the text of HTTP/1", "GET / HTTP/2.0\r\nHost: a\r\n\r\n"),
    ("HTTP/2's preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    ("a NUL in the target", "GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n"),
    ("a delete character in the target", "GET /\u{7f} HTTP/1.1\r\nHost: a\r\n\r\n"),
    ("a carriage return in the target", "GET /\rx HTTP/1.1\r\nHost: a\r\n\r\n"),
    ("a NUL in the method", "G\0T / HTTP/1.1\r\nHost: a\r\n\r\n"),
    ("a colon in the method", "GE:T / HTTP/1.1\r\nHost: a\r\n\r\n"),
];

/// Malformed chunks, after a head with `Transfer-Encoding: chunked`.
const CHUNKS: &[(&str, &str)] = &[
    ("a size that is no number", "x\r\nabcde\r\n0\r\n\r\n"),
    ("a size with a minus", "-5\r\nabcde\r\n0\r\n\r\n"),
    ("a size with a plus", "+5\r\nabcde\r\n0\r\n\r\n"),
    ("a size with a prefix", "0x5\r\nabcde\r\n0\r\n\r\n"),
    ("a size beyond 64 bits", "10000000000000005\r\nabcde\r\n0\r\n\r\n"),
    ("an empty size", "\r\nabcde\r\n0\r\n\r\n"),
    ("a size that ends in a line feed", "5\nabcde\r\n0\r\n\r\n"),
    ("a size that is too small", "1\r\nabcde\r\n0\r\n\r\n"),
    ("a size that is too large by one", "6\r\nabcde\r\n0\r\n\r\n"),
    ("a chunk that ends in a line feed", "5\r\nabcde\n0\r\n\r\n"),
    ("a chunk that ends in a carriage return", "5\r\nabcde\r0\r\n\r\n"),
    ("a line feed in an extension", "5;a\nb\r\nabcde\r\n0\r\n\r\n"),
    ("a carriage return in an extension", "5;a\rb\r\nabcde\r\n0\r\n\r\n"),
    ("an end that ends in a line feed", "5\r\nabcde\r\n0\n\n"),
];

/// An ambiguous request.
#[derive(Debug, Clone)]
pub struct Doubtful {
    /// Its defect.
    pub flaw: &'static str,
    /// Its bytes, which end with [`SMUGGLED`].
    pub bytes: String,
}

/// Requests that a server must refuse because of their heads.
#[must_use]
pub fn doubtful_heads() -> Vec<Doubtful> {
    let by_lines =
        LINES.iter().map(|(flaw, lines)| (flaw, format!("GET /first HTTP/1.1\r\nHost: a\r\n{lines}\r\n")));
    let whole = HEADS.iter().map(|(flaw, head)| (flaw, (*head).to_owned()));
    by_lines.chain(whole).map(|(flaw, head)| Doubtful { flaw, bytes: head + SMUGGLED }).collect()
}

/// Requests with valid heads. A server may answer them, but must not read another request after them.
#[must_use]
pub fn doubtful_chunks() -> Vec<Doubtful> {
    let head = "GET /first HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    CHUNKS
        .iter()
        .map(|(flaw, chunks)| Doubtful { flaw, bytes: format!("{head}{chunks}{SMUGGLED}") })
        .collect()
}
