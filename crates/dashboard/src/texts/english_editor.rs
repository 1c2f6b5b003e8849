//! The editor of landing pages in English.

use signpost_domain::{Background, ButtonStyle, ContactMethod, Font};

use super::EditorTexts;

pub(super) static EDITOR: EditorTexts = EditorTexts {
    background_name,
    button_style_name,
    font_name,
    method_name,
    input,
    input_hint,
    widget,
    accent: "Accent colour",
    accent_as_given: "This colour is readable on the page as it is.",
    accent_both: |a, b| {
        format!(
            "Text and icons are shown in {a} on light and in {b} on dark, so that they are readable. Filled buttons keep your colour."
        )
    },
    accent_dark: |a| {
        format!(
            "On dark, text and icons are shown in {a}, so that they are readable. Filled buttons keep your colour."
        )
    },
    accent_hint: "As #rrggbb, such as #1a73e8. Leave it empty for the default.",
    accent_invalid: "This is not a colour such as #116b4f.",
    accent_light: |a| {
        format!(
            "On light, text and icons are shown in {a}, so that they are readable. Filled buttons keep your colour."
        )
    },
    add: "Add",
    avatar: "Profile picture",
    avatar_hint: "The address of a square picture for the top of the page. Without one, the page shows the initials.",
    away: "The server does not answer. What you typed is still here: try again.",
    background: "Background",
    buttons: "Buttons",
    curl_read: "Read this page",
    curl_update: "Change this page",
    down: |a| format!("Move down: {a}"),
    edit: "Edit page",
    font: "Font",
    full: "A page has at most 100 widgets, so no other can be added. Remove one first.",
    heading: "Edit page",
    language: "Language",
    language_hint: |a| {
        format!(
            "The language of your texts, for screen readers and translators, as a tag such as en or pt-BR. Your browser says {a}."
        )
    },
    language_new: "The language of your texts, as a tag such as en or pt-BR. Empty if they have several.",
    look: "Look",
    moved: "{3}: position {1} of {2}",
    newer: "This page has a widget that only a newer version of Signpost knows, so its widgets cannot be edited here.",
    none: "The page has no widgets yet. Add links, texts and pictures with the buttons below.",
    not_saved: "Not saved yet",
    off: "no",
    on: "yes",
    preview: "Preview",
    preview_kept: "There is no preview now. What you typed is still in the form.",
    preview_signed_out: "What you typed is still in the form. Sign in in a new tab, and then go on here.",
    preview_title: "Preview of the page",
    preview_without_factor: "What you typed is still in the form. Set up your second factor in a new tab, and then go on here.",
    readers: "Readers",
    remove: |a| format!("Remove: {a}"),
    removed: "Removed when you save",
    restore: "Restore",
    said_created: "The page is live. Add what it shows, and save.",
    said_created_closed: "The page is saved, and does not open now. Add what it shows, and save.",
    search_engines: "Search engines may list the page",
    search_engines_hint: "Otherwise the page asks them not to.",
    see_preview: "See the preview",
    too_many: "A page has at most 100 widgets. Remove some.",
    up: |a| format!("Move up: {a}"),
    widgets: "Widgets",
};

const fn background_name(background: Background) -> &'static str {
    match background {
        Background::Plain => "Plain",
        Background::Gradient => "Gradient",
        Background::Dots => "Dots",
    }
}

const fn button_style_name(style: ButtonStyle) -> &'static str {
    match style {
        ButtonStyle::Card => "Card",
        ButtonStyle::Pill => "Pill",
        ButtonStyle::Outline => "Outline",
        ButtonStyle::Filled => "Filled",
    }
}

const fn font_name(font: Font) -> &'static str {
    match font {
        Font::Sans => "Sans",
        Font::Serif => "Serif",
        Font::Rounded => "Rounded",
    }
}

const fn method_name(method: ContactMethod) -> &'static str {
    match method {
        ContactMethod::Phone => "Call",
        ContactMethod::Sms => "Text message",
        ContactMethod::Whatsapp => "WhatsApp",
    }
}

fn widget(type_name: &str) -> &'static str {
    match type_name {
        "link" => "Link",
        "heading" => "Heading",
        "text" => "Text",
        "image" => "Picture",
        "social" => "Social network",
        "video" => "Video",
        "email" => "E-mail",
        "contact" => "Phone",
        _ => "Divider",
    }
}

fn input(type_name: &str, name: &str) -> &'static str {
    match (type_name, name) {
        ("image", "url") => "Link of the picture (optional)",
        ("link", "title") => "Title",
        (_, "title") => "Title (optional)",
        (_, "thumbnail_url") => "Small picture (optional)",
        (_, "text") => "Text",
        (_, "image_url") => "Address of the picture",
        (_, "alt") => "What the picture shows",
        (_, "network") => "Network",
        (_, "address") => "E-mail address",
        (_, "method") => "What visitors do",
        (_, "number") => "Number",
        _ => "Address",
    }
}

fn input_hint(type_name: &str, name: &str) -> &'static str {
    match (type_name, name) {
        ("image", "alt") => "For people who do not see it. Leave it empty for decoration.",
        ("social", "network") => "Such as instagram, youtube or mastodon.",
        ("video", "url") => {
            "A video on YouTube or Vimeo. Visitors load nothing from there until they open it."
        }
        ("contact", "number") => "With the country code, such as +44 20 7946 0958.",
        _ => "",
    }
}
