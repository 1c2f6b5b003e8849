//! The parts of a visitors' page that only such pages have.

use crate::document::{Document, Element};

impl Document {
    /// The target of the link element with this `rel`.
    pub(crate) fn linked(&self, rel: &str) -> Option<&str> {
        self.all("link").find(|link| link.attribute("rel") == Some(rel))?.attribute("href")
    }

    /// The content of the meta element whose attribute `key` is `value`.
    pub(crate) fn meta(&self, key: &str, value: &str) -> Option<&str> {
        self.all("meta").find(|meta| meta.attribute(key) == Some(value))?.attribute("content")
    }

    /// The elements and the names of their attributes, without values and texts.
    pub(crate) fn outline(&self) -> Vec<String> {
        let line = |element: &Element| {
            let mut names: Vec<&str> = element.attributes.iter().map(|(name, _)| name.as_str()).collect();
            // The direction of a page follows its title.
            names.retain(|name| !(element.name == "html" && *name == "dir"));
            format!("{}{} {}", " ".repeat(element.depth), element.name, names.join(" "))
        };
        self.0.iter().map(line).collect()
    }
}
