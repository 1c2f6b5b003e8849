//! The list of links and what is done with several of them.

use askama::Template;

use super::domains::Label;
use super::form::Form;
use super::shell::{Pager, Shell};

/// The list of an account's links: `GET A/links`. Its checkboxes are sent to `A/links/bulk` as `ids`, with an `action` of
/// `move` (and `group`), `activate`, `deactivate` or `delete`, and `back`.
#[derive(Debug, Clone, Template)]
#[template(path = "links.html")]
pub struct LinksPage {
    /// The frame.
    pub shell: Shell,
    /// Whether the user may change links. Otherwise the page has neither checkboxes nor buttons.
    pub can_write: bool,
    /// What the list is limited to.
    pub filter: LinkFilter,
    /// The links of this part of the list.
    pub rows: Vec<LinkRow>,
    /// The neighbouring parts.
    pub pager: Pager,
    /// The idempotency key of the form with the checkboxes.
    pub idempotency_key: String,
    /// The query of this page, such as `?q=sale&after=…`, sent as `back` to return here. May be empty.
    pub here: String,
    /// The result of the last bulk action.
    pub summary: Option<BulkSummary>,
}

impl LinksPage {
    /// The path of the account, relative to the page, before a name: `A/links`, or `A/links/bulk` with its result.
    const fn up(&self) -> &'static str {
        if self.summary.is_some() { "../" } else { "" }
    }

    /// The path of the list, relative to the page, before a query.
    const fn list(&self) -> &'static str {
        if self.summary.is_some() { "../links" } else { "" }
    }
}

/// The filter of the list, whose form is sent with `GET`: `q`, `group`, `tag`, `domain`, `state`, `password` and `kind`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinkFilter {
    /// `q`: the searched text.
    pub q: String,
    /// `group`: an id, `none` for links without a group, or empty.
    pub group: String,
    /// `tag`: names of tags, separated by commas, or empty.
    pub tag: String,
    /// The groups to choose from.
    pub groups: Vec<NamedId>,
    /// `domain`: a hostname, or empty.
    pub domain: String,
    /// The hostnames to choose from.
    pub domains: Vec<String>,
    /// `state`: the value of one of the states to choose from, or empty.
    pub state: String,
    /// The states to choose from.
    pub states: Vec<NamedId>,
    /// `password`: `with`, `without`, or empty.
    pub password: Option<bool>,
    /// `kind`: `redirect`, `landing`, or empty.
    pub kind: Option<LinkKind>,
    /// Whether the address asks for a state that there is not, so that no link is listed.
    pub is_refused: bool,
}

impl LinkFilter {
    /// How many of the choices besides the search are set.
    #[must_use]
    pub fn count(&self) -> usize {
        let set = [
            !self.group.is_empty(),
            !self.tag.is_empty(),
            !self.domain.is_empty(),
            !self.state.is_empty(),
            self.password.is_some(),
            self.kind.is_some(),
        ];
        set.into_iter().filter(|is_set| *is_set).count()
    }

    /// Whether the list is limited at all.
    #[must_use]
    pub fn is_set(&self) -> bool {
        !self.q.is_empty() || self.count() > 0 || self.is_refused
    }

    fn is_kind(&self, kind: &str) -> bool {
        self.kind.is_some_and(|set| set.value() == kind)
    }

    fn has_password(&self, password: bool) -> bool {
        self.password == Some(password)
    }
}

/// An object's id and its name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamedId {
    /// The id.
    pub id: String,
    /// The name.
    pub name: String,
}

/// A tag of a link.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinkTag {
    /// The name.
    pub name: String,
    /// The query of the list of its links: `?tag=mail`.
    pub query: String,
}

/// The two kinds of links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkKind {
    /// A redirect.
    Redirect,
    /// A landing page.
    Landing,
}

impl LinkKind {
    /// The value in forms and queries.
    #[must_use]
    pub const fn value(self) -> &'static str {
        match self {
            Self::Redirect => "redirect",
            Self::Landing => "landing",
        }
    }
}

/// A link in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkRow {
    /// The id.
    pub id: String,
    /// The tile before it, of the title.
    pub tile: Tile,
    /// The kind.
    pub kind: LinkKind,
    /// The name of a redirect, or the title of a landing page.
    pub title: String,
    /// The public address, without a domain none.
    pub url: Option<String>,
    /// The public address as people read it: without scheme. Empty without an address.
    pub short: String,
    /// Where a redirect leads, as people read it: without scheme. `None` for landing pages.
    pub target: Option<String>,
    /// The group.
    pub group: Option<NamedId>,
    /// The tags.
    pub tags: Vec<LinkTag>,
    /// Why it does not open now. `None` if it does.
    pub state: Option<Label>,
    /// Whether it asks its visitors for a password.
    pub has_password: bool,
    /// The clicks of the last 30 days, such as `1,204`. `None` if they are not counted or not known.
    pub clicks: Option<String>,
    /// When it was created, as people read it.
    pub created: String,
    /// When it was created, for machines: `2026-11-26T20:47:00Z`.
    pub created_at: String,
    /// Whether its checkbox is set, as after a bulk action that failed.
    pub checked: bool,
}

/// A coloured tile with a letter, in place of a fetched icon.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tile {
    /// The letter.
    pub letter: String,
    /// One of eight hues: 0 to 7.
    pub hue: u8,
}

impl Tile {
    /// The tile of a title, which may be a hostname. Equal texts have equal tiles.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let text = text.strip_prefix("www.").unwrap_or(text);
        let letter = text
            .chars()
            .find(|letter| letter.is_alphanumeric())
            .map(|letter| letter.to_uppercase().collect());
        let sum = text.bytes().fold(7_u8, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte));
        Self { letter: letter.unwrap_or_else(|| "•".to_owned()), hue: sum % 8 }
    }
}

/// The result of a bulk action.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BulkSummary {
    /// What happened, such as `3 links moved, 1 failed.`
    pub text: String,
    /// What failed.
    pub failures: Vec<BulkFailure>,
}

/// A link on which a bulk action failed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BulkFailure {
    /// The name of the link, or its id.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// Asks whether several links shall be deleted, for browsers without scripts. The form is sent to `A/links/bulk` with
/// `action=delete`, `confirmed=yes`, the `ids` and `back`.
#[derive(Debug, Clone, Template)]
#[template(path = "bulk-delete.html")]
pub struct BulkDeletePage {
    /// The frame.
    pub shell: Shell,
    /// The form.
    pub form: Form,
    /// The links that will be deleted.
    pub items: Vec<BulkItem>,
    /// The query of the list to return to, such as `?q=sale`. May be empty.
    pub back: String,
}

/// A link that will be deleted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BulkItem {
    /// The id.
    pub id: String,
    /// The name.
    pub name: String,
    /// The public address as people read it, or empty.
    pub short: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tile_shows_the_first_letter_or_digit() {
        for (text, letter) in
            [("www.example.com", "E"), ("(东京)", "东"), ("42", "4"), ("ßa", "SS"), ("…", "•"), ("", "•")]
        {
            assert_eq!(Tile::of(text).letter, letter, "{text}");
        }
    }

    #[test]
    fn tiles_of_equal_hosts_are_equal() {
        assert_eq!(Tile::of("www.example.com/a"), Tile::of("example.com/a"));
        assert!(Tile::of("example.com").hue < 8);
    }
}
