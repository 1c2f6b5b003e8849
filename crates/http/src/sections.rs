//! The sections of the API: everything that it serves, by subject. Each subject declares its section in its own file.

use utoipa::openapi::path::Parameter;

use crate::openapi::operation::Endpoint;
use crate::openapi::parameters::Name;
use crate::resources::{account, domains, explanations, groups, landings, pixels, redirects, tags};
use crate::schema::Components;
use crate::{analytics, documentation, health, tls_allowed};

/// What the API serves under one tag of the document.
pub(crate) struct Section {
    /// The tag.
    pub(crate) tag: &'static str,
    /// What the tag stands for.
    pub(crate) description: &'static str,
    /// The endpoints, in the order of the documentation page.
    pub(crate) endpoints: fn() -> Vec<Endpoint>,
    /// The schemas of bodies that no other section declares.
    pub(crate) schemas: fn() -> Components,
    /// The parameters that no other section declares.
    pub(crate) parameters: fn() -> Vec<(Name, Parameter)>,
}

/// The sections, in the order of the documentation page.
pub(crate) static SECTIONS: &[&Section] = &[
    &redirects::SECTION,
    &landings::SECTION,
    &explanations::SECTION,
    &groups::SECTION,
    &tags::SECTION,
    &domains::SECTION,
    &pixels::SECTION,
    &analytics::SECTION,
    &account::SECTION,
    &health::SECTION,
    &tls_allowed::SECTION,
    &documentation::SECTION,
];

/// Every endpoint, in the order of the documentation page.
pub(crate) fn endpoints() -> impl Iterator<Item = Endpoint> {
    let tagged = |section: &&Section| {
        let tag = section.tag;
        (section.endpoints)().into_iter().map(move |endpoint| Endpoint { tag, ..endpoint })
    };
    SECTIONS.iter().flat_map(tagged)
}
