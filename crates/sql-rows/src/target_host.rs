//! The column `target_host_ends` of SQLite (ADR 83).

use signpost_domain::{HostEnd, TargetHost};

/// How many characters the last two labels of a host have, the last three, and so on, as far as there is an index and the host has so
/// many, such as `011015` of `www.example.com`. Each number has three digits. SQLite cuts the ends of `target_host` with them, which costs
/// it next to nothing.
#[must_use]
pub fn host_ends(host: &str) -> String {
    // A longer host cannot be one of a target, and its numbers might have more digits.
    if host.len() > TargetHost::MAX_CHARS {
        return String::new();
    }
    let ends = TargetHost::INDEXED_LABELS.map_while(|labels| HostEnd::of(host, labels));
    let lengths: Vec<String> = ends.map(|end| format!("{:03}", end.text.len())).collect();
    lengths.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d126_each_end_of_an_indexed_number_of_labels_has_three_digits() {
        let too_long = "a.".repeat(200);
        let longest = format!("{}.{}.com", "a".repeat(63), "b".repeat(63));
        for (host, ends) in [
            ("[2001:db8::1]", ""),
            ("localhost", ""),
            ("example.com", "011"),
            ("www.example.com", "011015"),
            ("192.0.2.1", "003005009"),
            ("e.d.c.b.a", "003005007009"),
            ("g.f.e.d.c.b.a", "003005007009"),
            (longest.as_str(), "067131"),
            (too_long.as_str(), ""),
        ] {
            assert_eq!(host_ends(host), ends, "{host}");
        }
    }
}
