//! A page as an HTML parser reads it, like a browser. The tests of the dashboard's pages read theirs with it too.

use html5ever::driver::ParseOpts;
use html5ever::tendril::TendrilSink;
use html5ever::tree_builder::TreeBuilderOpts;
use markup5ever_rcdom::{Handle, NodeData, RcDom};

/// An element: its name, its attributes, and the text in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Element {
    pub(crate) depth: usize,
    pub(crate) name: String,
    pub(crate) attributes: Vec<(String, String)>,
    /// The text of this element and of its descendants.
    pub(crate) text: String,
}

impl Element {
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(attribute, _)| attribute == name).map(|(_, value)| value.as_str())
    }
}

/// The elements of a document, in document order.
#[derive(Debug)]
pub(crate) struct Document(pub(crate) Vec<Element>);

impl Document {
    /// Parses a page like a browser without scripts, which also reads `noscript`.
    pub(crate) fn read(html: &str) -> Self {
        let options = ParseOpts {
            tree_builder: TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() },
            ..ParseOpts::default()
        };
        let dom = html5ever::parse_document(RcDom::default(), options).one(html);
        let mut elements = Vec::new();
        collect(&dom.document, 0, &mut elements);
        Self(elements)
    }

    /// All elements of this name.
    pub(crate) fn all(&self, name: &str) -> impl Iterator<Item = &Element> {
        self.0.iter().filter(move |element| element.name == name)
    }

    /// The only element of this name.
    #[track_caller]
    pub(crate) fn only(&self, name: &str) -> &Element {
        let found: Vec<_> = self.all(name).collect();
        assert_eq!(found.len(), 1, "{name}");
        found[0]
    }
}

fn collect(node: &Handle, depth: usize, elements: &mut Vec<Element>) -> String {
    let mut place = None;
    if let NodeData::Element { name, attrs, .. } = &node.data {
        let attributes = attrs.borrow();
        let attributes =
            attributes.iter().map(|one| (one.name.local.to_string(), one.value.to_string())).collect();
        place = Some(elements.len());
        elements.push(Element { depth, name: name.local.to_string(), attributes, text: String::new() });
    }
    let mut text = match &node.data {
        NodeData::Text { contents } => contents.borrow().to_string(),
        NodeData::Comment { .. } => panic!("a page has a comment"),
        _ => String::new(),
    };
    for child in node.children.borrow().iter() {
        text.push_str(&collect(child, depth + 1, elements));
    }
    if let Some(place) = place {
        elements[place].text.clone_from(&text);
    }
    text
}
