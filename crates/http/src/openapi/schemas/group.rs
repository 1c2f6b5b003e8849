//! Groups (contract "Group").

use super::Components;
use super::fields::{created_at, id, kept_name, sent_name, updated_at};
use super::object::{always, closed_object, count, kind};

/// The components about groups.
pub(super) fn components() -> Components {
    let shown = closed_object(
        "A group of links. Its links are found with the filter `group_id` of the link lists.",
        [
            always("id", id("grp", "The group's id.")),
            always("object", kind("group")),
            always("name", kept_name("The group's name.")),
            always("landings_count", count("How many landing pages are in the group.")),
            always("redirects_count", count("How many redirects are in the group.")),
            always("created_at", created_at()),
            always("updated_at", updated_at()),
        ],
    );
    let sent = closed_object("What a group is called.", [always("name", sent_name("The group's name"))]);
    vec![("Group", shown.into()), ("GroupName", sent.into())]
}
