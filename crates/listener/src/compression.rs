//! Compression of whole answers, as clients accept it (RFC 9110, sections 12.5.3 and 8.4).
//!
//! An answer is compressed in memory, so its length is known and it needs no chunks. Bodies of at most
//! [`LEAST_BYTES`] fit into one packet anyway.

use std::io::Write as _;

use actix_http::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue};
use brotli::enc::BrotliEncoderParams;
use flate2::Compression;
use flate2::write::GzEncoder;

/// Bodies of this length or less are sent as they are.
pub const LEAST_BYTES: usize = 1_024;

/// How a body can be compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// Brotli (RFC 7932). Browsers accept it on encrypted connections only.
    Brotli,
    /// Gzip (RFC 1952).
    Gzip,
}

/// How much a client wants each encoding, in thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AcceptedEncodings([(Encoding, u16); 2]);

impl AcceptedEncodings {
    /// What a client with these headers wants.
    #[must_use]
    pub fn of(headers: &HeaderMap) -> Self {
        let lists = || headers.get_all(ACCEPT_ENCODING).filter_map(|value| value.to_str().ok());
        Self(Encoding::ALL.map(|encoding| (encoding, encoding.weight_in(lists()))))
    }

    /// The best encoding for a body of this kind. `None` if the client accepts neither, or says nothing.
    #[must_use]
    pub fn best(self, effort: Effort) -> Option<Encoding> {
        let better = match effort {
            Effort::Once => Encoding::Gzip,
            Effort::Kept => Encoding::Brotli,
        };
        let accepted = self.0.into_iter().filter(|(_, weight)| *weight > 0);
        let best = accepted.max_by_key(|(encoding, weight)| (*weight, *encoding == better));
        best.map(|(encoding, _)| encoding)
    }
}

/// How much time a compression may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// For a body that is sent once. Gzip is the better choice: on such bodies Brotli takes three times as long, and saves a
    /// tenth more.
    Once,
    /// For a body that is kept and sent many times.
    Kept,
}

impl Encoding {
    /// All encodings.
    pub const ALL: [Self; 2] = [Self::Brotli, Self::Gzip];

    /// The weight of this encoding in these lists, in thousandths.
    fn weight_in<'a>(self, lists: impl Iterator<Item = &'a str>) -> u16 {
        let mut wildcard = 0;
        for item in lists.flat_map(|list| list.split(',')) {
            let (name, parameters) = item.split_once(';').unwrap_or((item, ""));
            let name = name.trim();
            if name == "*" {
                wildcard = weight(parameters);
            } else if self.is_named(name) {
                return weight(parameters);
            }
        }
        wildcard
    }

    fn is_named(self, name: &str) -> bool {
        let names: &[&str] = match self {
            Self::Brotli => &["br"],
            Self::Gzip => &["gzip", "x-gzip"],
        };
        names.iter().any(|known| name.eq_ignore_ascii_case(known))
    }

    /// The value of `Content-Encoding`.
    #[must_use]
    pub const fn header(self) -> HeaderValue {
        match self {
            Self::Brotli => HeaderValue::from_static("br"),
            Self::Gzip => HeaderValue::from_static("gzip"),
        }
    }

    /// The compressed body. `None` if it would not be shorter, or if the body has at most [`LEAST_BYTES`].
    #[must_use]
    pub fn compress(self, body: &[u8], effort: Effort) -> Option<Vec<u8>> {
        if body.len() <= LEAST_BYTES {
            return None;
        }
        let compressed = match self {
            Self::Brotli => brotli(body, effort),
            Self::Gzip => gzip(body, effort),
        };
        // Writing into memory cannot fail.
        compressed.ok().filter(|compressed| compressed.len() < body.len())
    }
}

/// The weight of an item with these parameters, in thousandths. A malformed weight means that the item is not wanted.
fn weight(parameters: &str) -> u16 {
    let quality = parameters.split(';').find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("q").then_some(value.trim())
    });
    let Some(quality) = quality else { return 1_000 };
    let (whole, fraction) = quality.split_once('.').unwrap_or((quality, ""));
    let is_number = fraction.len() <= 3 && fraction.bytes().all(|byte| byte.is_ascii_digit());
    match whole {
        "1" if is_number => 1_000,
        "0" if is_number => format!("{fraction:0<3}").parse().unwrap_or_default(),
        _ => 0,
    }
}

fn brotli(body: &[u8], effort: Effort) -> std::io::Result<Vec<u8>> {
    let quality = match effort {
        Effort::Once => 2,
        // From 9 on, a page takes 30 times as long.
        Effort::Kept => 5,
    };
    // With smaller windows the encoder uses tables that take milliseconds to set up.
    let parameters =
        BrotliEncoderParams { quality, lgwin: 22, size_hint: body.len(), ..BrotliEncoderParams::default() };
    let mut output = Vec::with_capacity(body.len() / 3);
    let mut input = body;
    brotli::BrotliCompress(&mut input, &mut output, &parameters)?;
    Ok(output)
}

fn gzip(body: &[u8], effort: Effort) -> std::io::Result<Vec<u8>> {
    let level = match effort {
        Effort::Once => Compression::new(3),
        Effort::Kept => Compression::new(6),
    };
    let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 3), level);
    encoder.write_all(body)?;
    encoder.finish()
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    fn accepted(values: &[&str]) -> Option<Encoding> {
        accepted_for(values, Effort::Kept)
    }

    fn accepted_for(values: &[&str], effort: Effort) -> Option<Encoding> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(ACCEPT_ENCODING, HeaderValue::from_str(value).unwrap());
        }
        AcceptedEncodings::of(&headers).best(effort)
    }

    #[test]
    fn best_accepted_encoding_is_chosen() {
        for (values, expected) in [
            (&["gzip, deflate, br, zstd"][..], Some(Encoding::Brotli)),
            (&["gzip, deflate"], Some(Encoding::Gzip)),
            (&["GZIP"], Some(Encoding::Gzip)),
            (&["x-gzip"], Some(Encoding::Gzip)),
            (&["deflate", "br"], Some(Encoding::Brotli)),
            (&["br;q=0.2, gzip;q=0.9"], Some(Encoding::Gzip)),
            (&["br;q=0.9, gzip;q=0.9"], Some(Encoding::Brotli)),
            (&["br;q=0, *"], Some(Encoding::Gzip)),
            (&["*"], Some(Encoding::Brotli)),
            (&["*;q=0, gzip ; q=1.000"], Some(Encoding::Gzip)),
            (&["br;level=4;q=0.001"], Some(Encoding::Brotli)),
        ] {
            assert_eq!(accepted(values), expected, "{values:?}");
        }
        for refused in [
            &[][..],
            &[""],
            &["identity"],
            &["deflate, zstd"],
            &["gzip;q=0, br;q=0.0"],
            &["*;q=0"],
            &["gzip;q=2"],
            &["gzip;q=x"],
            &["gzip;q=0.0001"],
            &["brotli, gzipped"],
        ] {
            assert_eq!(accepted(refused), None, "{refused:?}");
        }
    }

    #[test]
    fn bodies_that_are_sent_once_prefer_gzip() {
        for (value, expected) in [
            ("gzip, deflate, br", Some(Encoding::Gzip)),
            ("br", Some(Encoding::Brotli)),
            ("gzip;q=0.5, br", Some(Encoding::Brotli)),
            ("*", Some(Encoding::Gzip)),
        ] {
            assert_eq!(accepted_for(&[value], Effort::Once), expected, "{value}");
        }
    }

    #[test]
    fn compressed_bodies_read_back() {
        for body in ["a".repeat(1_025), "Sourdough, rye and butter. ".repeat(20_000)] {
            for effort in [Effort::Once, Effort::Kept] {
                let compressed = Encoding::Gzip.compress(body.as_bytes(), effort).unwrap();
                let mut text = String::new();
                flate2::read::GzDecoder::new(&compressed[..]).read_to_string(&mut text).unwrap();
                assert_eq!(text, body);
                let compressed = Encoding::Brotli.compress(body.as_bytes(), effort).unwrap();
                let mut text = String::new();
                brotli::Decompressor::new(&compressed[..], 4_096).read_to_string(&mut text).unwrap();
                assert_eq!(text, body);
            }
        }
    }

    #[test]
    fn bodies_that_do_not_get_shorter_stay() {
        // The top bytes of a linear congruential generator do not compress.
        let numbers = std::iter::successors(Some(1_u64), |number| {
            Some(number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1))
        });
        let random: Vec<u8> = numbers.take(5_000).map(|number| number.to_be_bytes()[0]).collect();
        for encoding in Encoding::ALL {
            assert_eq!(encoding.compress(&random, Effort::Kept), None, "{encoding:?}");
            assert_eq!(encoding.compress(&[b'a'; 1_024], Effort::Kept), None, "{encoding:?}");
        }
    }
}
