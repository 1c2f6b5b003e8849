//! Samples of the editor of landing pages.

use signpost_dashboard::texts::{ENGLISH, EditorTexts};
use signpost_dashboard::views::{
    Choice, Conflict, ConflictField, Control, EditorInput, EditorPage, EditorWidget, Field, NavItem, Select,
};

use crate::link_samples::LONG;
use crate::samples::{Maker, edit};

const E: &EditorTexts = ENGLISH.editor;

pub(crate) fn add(m: &Maker) {
    let typical = page(m, 5);
    m.add("editor", &typical);
    m.add(
        "editor-empty",
        &EditorPage {
            widgets: Some(Vec::new()),
            accent_color: Field::default(),
            verdict: String::new(),
            ..typical.clone()
        },
    );
    m.add("editor-newer", &EditorPage { widgets: None, ..typical.clone() });
    m.add("editor-100", &page(m, 100));
    let mut wrong = page(m, 4);
    let widgets = wrong.widgets.as_mut().unwrap();
    for widget in widgets.iter_mut() {
        widget.is_open = true;
        for input in &mut widget.inputs {
            input.field.error = m.some("Must not be empty.");
        }
    }
    widgets[1].is_removed = true;
    widgets[0].is_current = true;
    let conflict = Conflict {
        saved: m.w("26 Nov 2026, 20:47"),
        fields: vec![ConflictField {
            label: m.w(E.widgets),
            yours: m.w("Link: Our shop\nHeading: News"),
            theirs: String::new(),
        }],
    };
    m.add(
        "editor-error",
        &EditorPage {
            is_changed: true,
            form: m.refused(500),
            title: m.bad("", "Must not be empty."),
            description: m.bad(LONG, "Must have at most 500 characters."),
            avatar_url: m.bad("x", "Must begin with http:// or https://."),
            accent_color: m.bad("red", "Must be a colour such as #1a2b3c."),
            language: m.bad("german", "Must be a language tag."),
            conflict: Some(conflict),
            ..wrong
        },
    );
    let shell = m.loud_shell(E.heading, NavItem::Links);
    m.add("editor-viewer-page", &EditorPage { shell, can_write: false, ..typical });
}

fn choices(m: &Maker, names: &[&str]) -> Vec<Choice> {
    names.iter().map(|name| Choice::new(name.to_lowercase(), m.w(name), *name == names[0])).collect()
}

fn page(m: &Maker, widgets: usize) -> EditorPage {
    EditorPage {
        shell: m.shell("Morgenbrot", NavItem::Links),
        id: "lnd_019b5a3b11aa7c3e8899aabbccdd0001".to_owned(),
        name: m.w("Morgenbrot"),
        can_write: true,
        is_changed: false,
        form: edit(500),
        url: Some((m.w("https://links.example.com/bread"), m.w("links.example.com/bread"))),
        title: m.field("Morgenbrot"),
        description: m.field("Sourdough from Kreuzberg."),
        avatar_url: Field::default(),
        theme: choices(m, &["Auto", "Light", "Dark"]),
        accent_color: m.field("#ffe600"),
        verdict: m.w(&(E.accent_light)("#7a6a00")),
        background: choices(m, &["Gradient", "Plain", "Dots"]),
        button_style: choices(m, &["Card", "Pill", "Outline", "Filled"]),
        font: choices(m, &["Sans", "Serif", "Rounded"]),
        language: m.field("de"),
        own_language: m.w("de-DE"),
        search_engines: true,
        widgets: Some((0..widgets).map(|place| widget(m, place)).collect()),
        additions: ["link", "heading", "text", "image", "video", "social", "email", "contact", "divider"]
            .map(|name| (name, (E.widget)(name)))
            .to_vec(),
        conflict: None,
    }
}

fn widget(m: &Maker, place: usize) -> EditorWidget {
    let (type_name, inputs): (&'static str, &[&str]) = match place % 5 {
        0 => ("link", &["title", "url", "thumbnail_url"]),
        1 => ("text", &["text"]),
        2 => ("contact", &["method", "number", "title"]),
        3 => ("image", &["image_url", "alt", "url"]),
        _ => ("divider", &[]),
    };
    let type_label = (E.widget)(type_name);
    let input = |name: &&str| {
        let label = (E.input)(type_name, name);
        EditorInput {
            name: format!("w{place}.{name}"),
            label,
            full_label: m.w(&format!("{}. {type_label}: {label}", place + 1)),
            hint: (E.input_hint)(type_name, name),
            field: m.field("https://example.com/menu"),
            control: match *name {
                "text" => Control::Area("dir=auto rows=4"),
                "method" => Control::Select(Select { options: choices(m, &["Phone", "SMS"]), error: None }),
                _ => Control::Line("autocomplete=off"),
            },
        }
    };
    EditorWidget {
        key: format!("w{place}"),
        id: Some(format!("wgt_019b5a3b11aa7c3e8899aabbccdd{place:04}")),
        type_name,
        type_label,
        caption: m.w(if place == 1 { LONG } else { "Our menu" }),
        is_removed: false,
        is_open: false,
        is_current: false,
        inputs: inputs.iter().map(input).collect(),
    }
}
