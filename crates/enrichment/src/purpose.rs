//! Pages that a browser fetches before anybody asked for them (D48).

/// Whether a `Sec-Purpose` or `Purpose` header says that nobody sees the page yet: `prefetch;prerender`, `preview`.
pub(crate) fn is_ahead_of_visit(purpose: &[u8]) -> bool {
    const AHEAD: [&[u8]; 3] = [b"prefetch", b"prerender", b"preview"];
    purpose
        .split(|byte| !byte.is_ascii_alphanumeric())
        .any(|word| AHEAD.iter().any(|ahead| word.eq_ignore_ascii_case(ahead)))
}

#[cfg(test)]
mod tests {
    use super::is_ahead_of_visit;

    #[test]
    fn d48_prefetches_prerenders_and_previews_are_ahead_of_a_visit() {
        for purpose in
            ["prefetch", "prefetch;prerender", "Prefetch; anonymous-client-ip", "prerender", "preview"]
        {
            assert!(is_ahead_of_visit(purpose.as_bytes()), "{purpose}");
        }
        for purpose in ["", "navigate", "prefetched", "\u{0}"] {
            assert!(!is_ahead_of_visit(purpose.as_bytes()), "{purpose}");
        }
    }
}
