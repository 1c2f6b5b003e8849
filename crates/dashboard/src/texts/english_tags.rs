//! Tags in English.

use super::TagTexts;

pub(super) static TAGS: TagTexts = TagTexts {
    count_links: |n| if n == 1 { "1 link".to_owned() } else { format!("{n} links") },
    curl_delete: "Delete a tag",
    curl_list: "List tags",
    curl_rename: "Rename a tag",
    delete: "Delete tag",
    delete_text: "It is taken off its links, which stay.",
    filter: "Any of the tags",
    hint: "Separated by commas. A new name makes a new tag.",
    lead: "Tags find links of both kinds. A link has up to 20.",
    manage: "All tags",
    none: "No tags yet",
    none_text: "A link that names a tag makes it.",
    rename_hint: "With the name of another tag, the two become one.",
    said_deleted: "Tag deleted. Its links stay.",
    said_renamed: "Tag renamed.",
    title: "Tags",
    too_many: "The list looks for the first 20 tags only.",
};
