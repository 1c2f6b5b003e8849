//! Tags.

use askama::Template;

use super::form::Field;
use super::link_list::LinkTag;
use super::shell::{Pager, Shell};

/// The tags: `GET A/tags`. A rename is `POST A/tags/ID` with `name`; deletion is `POST A/tags/ID/delete`.
#[derive(Debug, Clone, Template)]
#[template(path = "tags.html")]
pub struct TagsPage {
    /// The frame.
    pub shell: Shell,
    /// Whether the user may change tags.
    pub can_write: bool,
    /// The tags of this part of the list.
    pub rows: Vec<TagRow>,
    /// The neighbouring parts.
    pub pager: Pager,
    /// The query of this part.
    pub part: String,
}

/// A tag.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TagRow {
    /// The id.
    pub id: String,
    /// The stored name, and the query of the list of its links.
    pub tag: LinkTag,
    /// How many links have it, such as `1,204 links`.
    pub links: String,
    /// The idempotency key of the row's forms.
    pub idempotency_key: String,
    /// A refused rename: what was typed, and why. The row is then shown open.
    pub rename: Option<Field>,
}
