//! The buffer in which clicks travel to the recorder (D48): one piece of memory, whatever their number.

use std::net::{IpAddr, Ipv6Addr};

use signpost_domain::{AccountId, CountryCode, LinkId, LinkKind, Timestamp, WidgetId};

use crate::ports::{Click, ClickKind};

/// Clicks in order of arrival, in one buffer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClickBatch {
    bytes: Vec<u8>,
}

/// The bytes of a click without its texts.
const FIXED_BYTES: usize = 8 + 1 + 16 + 16 + 1 + 16 + 16 + 2;

impl ClickBatch {
    /// The bytes that a click takes.
    #[must_use]
    pub(crate) fn byte_len_of(click: &Click<'_>) -> usize {
        FIXED_BYTES + click.texts().map(|text| 2 + text.len()).iter().sum::<usize>()
    }

    /// Adds a click, unless the batch would then exceed `most_bytes`. `false` if the click was left out.
    pub fn push(&mut self, click: &Click<'_>, most_bytes: usize) -> bool {
        let Click { at, link, account, kind, address, country, .. } = click;
        let (texts, length) = (click.texts(), click.byte_len());
        if self.bytes.len() + length > most_bytes {
            return false;
        }
        let (kind, widget) = match kind {
            ClickKind::Sent => (0, [0; 16]),
            ClickKind::Shown => (1, [0; 16]),
            ClickKind::Blocked => (2, [0; 16]),
            ClickKind::Widget(widget) => (3, widget.to_bytes()),
        };
        let address = match address {
            IpAddr::V4(address) => address.to_ipv6_mapped(),
            IpAddr::V6(address) => *address,
        };
        self.bytes.reserve(length);
        self.bytes.extend_from_slice(&at.unix_millis().to_le_bytes());
        self.bytes.push(match link.kind() {
            LinkKind::Landing => 0,
            LinkKind::Redirect => 1,
        });
        self.bytes.extend_from_slice(&link.to_bytes());
        self.bytes.extend_from_slice(&account.to_bytes());
        self.bytes.push(kind);
        self.bytes.extend_from_slice(&widget);
        self.bytes.extend_from_slice(&address.octets());
        // No country code contains zeros.
        self.bytes.extend_from_slice(country.map_or("\0\0", CountryCode::as_str).as_bytes());
        for text in texts {
            self.bytes.extend_from_slice(&u16::try_from(text.len()).unwrap_or_default().to_le_bytes());
            self.bytes.extend_from_slice(text);
        }
        true
    }

    /// Whether the batch has no clicks.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The size of the batch in bytes.
    #[must_use]
    pub const fn byte_len(&self) -> usize {
        self.bytes.len()
    }

    /// Removes all clicks, and keeps the allocated memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    /// The clicks.
    pub fn iter(&self) -> impl Iterator<Item = Click<'_>> {
        let mut rest = self.bytes.as_slice();
        std::iter::from_fn(move || {
            let click = read(&mut rest);
            if click.is_none() {
                rest = &[];
            }
            click
        })
    }
}

/// Reads the next click from `rest`.
fn read<'a>(rest: &mut &'a [u8]) -> Option<Click<'a>> {
    let at = Timestamp::from_unix_millis(i64::from_le_bytes(take(rest)?))?;
    let link_kind = match take(rest)? {
        [0] => LinkKind::Landing,
        [_] => LinkKind::Redirect,
    };
    let link = LinkId::from_bytes(link_kind, take(rest)?);
    let account = AccountId::from_bytes(take(rest)?);
    let [kind] = take(rest)?;
    let widget = take(rest)?;
    let kind = match kind {
        0 => ClickKind::Sent,
        1 => ClickKind::Shown,
        2 => ClickKind::Blocked,
        _ => ClickKind::Widget(WidgetId::from_bytes(widget)),
    };
    let address = IpAddr::V6(Ipv6Addr::from(take::<16>(rest)?)).to_canonical();
    let country = CountryCode::assigned(take(rest)?);
    let rule = str::from_utf8(text(rest)?).unwrap_or_default();
    Some(Click {
        at,
        link,
        account,
        kind,
        rule,
        address,
        country,
        user_agent: text(rest)?,
        referrer: text(rest)?,
        accept_language: text(rest)?,
        query: text(rest)?,
        purpose: text(rest)?,
    })
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (head, tail) = rest.split_first_chunk()?;
    *rest = tail;
    Some(*head)
}

fn text<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = u16::from_le_bytes(take(rest)?);
    let (text, tail) = rest.split_at_checked(usize::from(length))?;
    *rest = tail;
    Some(text)
}

#[cfg(test)]
mod tests {
    use signpost_port_contracts::samples;

    use super::*;

    fn click(kind: ClickKind, text: &[u8]) -> Click<'_> {
        Click {
            at: samples::at(1_769_850_307_042),
            link: samples::redirect("sale").id.into(),
            account: samples::id(),
            kind,
            rule: "",
            address: "192.0.2.7".parse().unwrap(),
            country: None,
            user_agent: text,
            referrer: b"https://example.com/",
            accept_language: b"",
            query: text,
            purpose: b"prefetch",
        }
    }

    #[test]
    fn d48_clicks_survive_encoding_unchanged() {
        let mut batch = ClickBatch::default();
        let mut clicks = Vec::new();
        for kind in [ClickKind::Sent, ClickKind::Shown, ClickKind::Blocked, ClickKind::Widget(samples::id())]
        {
            for address in ["192.0.2.7", "2001:db8::7"] {
                for text in [&b""[..], b"Mozilla/5.0 \xff"] {
                    for country in [None, CountryCode::parse("AT").ok()] {
                        clicks.push(Click {
                            rule: if text.is_empty() { "" } else { "phones.new" },
                            address: address.parse().unwrap(),
                            country,
                            ..click(kind, text)
                        });
                    }
                }
            }
        }
        for click in &clicks {
            assert!(batch.push(click, usize::MAX));
        }
        assert_eq!(batch.iter().collect::<Vec<_>>(), clicks);
        assert_eq!(batch.iter().map(|click| click.byte_len()).sum::<usize>(), batch.byte_len());
        batch.clear();
        assert!(batch.is_empty() && batch.iter().next().is_none());
    }

    #[test]
    fn d48_long_texts_are_cut_and_a_full_batch_refuses_clicks() {
        let mut batch = ClickBatch::default();
        let long = vec![b'x'; 70_000];
        let click = click(ClickKind::Sent, &long);
        let most = 40_960;
        let taken = (0..100).filter(|_| batch.push(&click, most)).count();
        let texts = Click::MOST_BYTES + Click::MOST_BYTES_OF_QUERY + 12 + 20 + 8;
        assert_eq!(taken, most / (FIXED_BYTES + texts));
        assert_eq!(batch.iter().count(), taken);
        assert!(batch.iter().all(|click| click.user_agent.len() == Click::MOST_BYTES));
        assert!(batch.bytes.len() <= most);
    }
}
