//! The chain of aliases of a name.

use hickory_resolver::proto::rr::Name;
use signpost_domain::HostResolution;

/// The names from the requested one to the current end of the chain.
#[derive(Debug)]
pub(crate) struct Chain {
    start: Name,
    aliases: Vec<Name>,
}

/// The result of a step along the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// The chain has grown by one name.
    Extended,
    /// The chain leads nowhere: it has a loop, or more aliases than are followed (D39).
    DeadEnd,
}

impl Chain {
    pub(crate) const fn new(start: Name) -> Self {
        Self { start, aliases: Vec::new() }
    }

    /// The name at the end.
    pub(crate) fn end(&self) -> &Name {
        self.aliases.last().unwrap_or(&self.start)
    }

    /// The number of followed aliases.
    pub(crate) const fn len(&self) -> usize {
        self.aliases.len()
    }

    /// Follows the alias at the end to its target.
    pub(crate) fn follow(&mut self, target: Name) -> Step {
        let is_circle = self.start == target || self.aliases.contains(&target);
        if is_circle || self.aliases.len() >= HostResolution::MAX_CHAIN {
            return Step::DeadEnd;
        }
        self.aliases.push(target);
        Step::Extended
    }

    /// The names after the first, for [`HostResolution::chain`]. A dot within a label is escaped, so no
    /// unusual name reads like another.
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

    /// The target of an alias is compared with the edge's name as text, so texts must be unambiguous (D39).
    #[test]
    fn names_are_lower_case_and_unusual_ones_stay_distinct() {
        assert_eq!(read(&[b"EDGE", b"Example", b"com"]).as_deref(), Some("edge.example.com"));
        assert_eq!(read(&[b"_x", b"example", b"com"]).as_deref(), Some("_x.example.com"));
        assert_eq!(read(&[b"edge.example", b"com"]).as_deref(), Some("edge\\.example.com"));
        assert_eq!(read(&[b"edge.example.com."]).as_deref(), Some("edge\\.example\\.com\\."));
        assert_eq!(read(&[b"\xff\x00", b"com"]).as_deref(), Some("\\377\\000.com"));
    }
}
