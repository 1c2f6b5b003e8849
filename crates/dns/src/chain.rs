//! The chain of aliases that a name leads through.

use hickory_resolver::proto::rr::Name;
use signpost_domain::HostResolution;

/// The names from the one that was asked for to the one where its chain has come to.
#[derive(Debug)]
pub(crate) struct Chain {
    start: Name,
    aliases: Vec<Name>,
}

/// What became of a step along the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// The chain is longer by one name.
    Taken,
    /// It leads nowhere: round in a circle, or farther than aliases are followed (D39).
    Astray,
}

impl Chain {
    pub(crate) const fn new(start: Name) -> Self {
        Self { start, aliases: Vec::new() }
    }

    /// The name at the end.
    pub(crate) fn end(&self) -> &Name {
        self.aliases.last().unwrap_or(&self.start)
    }

    /// How many aliases were followed.
    pub(crate) const fn len(&self) -> usize {
        self.aliases.len()
    }

    /// Follows the name at the end to the one that it is an alias of.
    pub(crate) fn follow(&mut self, target: Name) -> Step {
        let is_circle = self.start == target || self.aliases.contains(&target);
        if is_circle || self.aliases.len() >= HostResolution::MAX_CHAIN {
            return Step::Astray;
        }
        self.aliases.push(target);
        Step::Taken
    }

    /// The names after the first, as [`HostResolution::chain`] wants them. A dot within a label is escaped, so that no
    /// strange name reads like another.
    pub(crate) fn into_texts(self) -> Vec<String> {
        self.aliases.iter().map(text).collect()
    }
}

/// A name in lower case, without the trailing dot.
pub(crate) fn text(name: &Name) -> String {
    let mut text = name.to_lowercase().to_ascii();
    if name.is_fqdn() {
        text.pop();
    }
    text
}

#[cfg(test)]
mod tests {
    use hickory_resolver::proto::rr::Name;

    use super::text;

    fn read(labels: &[&[u8]]) -> Option<String> {
        Name::from_labels(labels.iter().copied()).ok().as_ref().map(text)
    }

    /// What an alias leads to is compared with the edge's name as text, so texts must not be ambiguous (D39).
    #[test]
    fn a_name_is_in_lower_case_and_a_strange_one_never_reads_like_another() {
        assert_eq!(read(&[b"EDGE", b"Example", b"com"]).as_deref(), Some("edge.example.com"));
        assert_eq!(read(&[b"_x", b"example", b"com"]).as_deref(), Some("_x.example.com"));
        assert_eq!(read(&[b"edge.example", b"com"]).as_deref(), Some("edge\\.example.com"));
        assert_eq!(read(&[b"edge.example.com."]).as_deref(), Some("edge\\.example\\.com\\."));
        assert_eq!(read(&[b"\xff\x00", b"com"]).as_deref(), Some("\\377\\000.com"));
    }
}
