//! The keyboard shortcuts in English.

use super::ShortcutTexts;

pub(super) static SHORTCUTS: ShortcutTexts = ShortcutTexts {
    create: "Create",
    domains: "Go to domains",
    edit: "Edit",
    groups: "Go to groups",
    help: "This list",
    keys: "Go to keys",
    links: "Go to links",
    move_: "Next, previous",
    off: "Turn shortcuts off in your settings.",
    open: "Open",
    search: "Search",
    select: "Select",
    statistics: "Go to statistics",
    usage: "Go to usage",
};
