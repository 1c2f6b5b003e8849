//! Sample landing pages, ordinary and extreme (D34, D35).

use serde_json::{Value, json};

/// The origin of their pictures.
pub const PICTURES: &str = "https://pictures.example.com/";

/// Only a title.
pub fn bare() -> Value {
    json!({"title": "Ada Lovelace"})
}

/// One link.
pub fn one() -> Value {
    json!({"title": "Café Nord", "description": "Open today", "widgets": [link("Our menu")]})
}

/// Every type of widget, and every field of the page.
pub fn every_type() -> Value {
    let picture = |name: &str| format!("{PICTURES}{name}");
    json!({
        "title": "Ada's kitchen", "description": "Bread, butter\nand everything between.", "accent_color": "#c2410c",
        "avatar_url": picture("ada.png"),
        "widgets": [
            {"type": "heading", "text": "New this week"},
            {"type": "text", "text": "Two recipes.\nOne of them with rye."},
            {"type": "link", "title": "Rye bread", "url": "https://example.com/rye", "thumbnail_url": picture("rye.png")},
            {"type": "image", "image_url": picture("oven.jpg"), "alt": "An oven", "url": "https://example.com/oven"},
            {"type": "video", "url": "https://vimeo.com/76979871"},
            {
                "type": "video", "url": "https://vimeo.com/76979871", "title": "A night in the bakery",
                "thumbnail_url": picture("night.jpg"),
            },
            {"type": "social", "network": "mastodon", "url": "https://mastodon.example.com/@ada"},
            {"type": "email", "address": "ada@example.com", "title": "Write to me"},
            {"type": "contact", "method": "phone", "number": "+442079460958", "title": "Call me"},
            {"type": "contact", "method": "whatsapp", "number": "+442079460958"},
            {"type": "divider"},
        ]
    })
}

/// Every type of widget on a page with other choices than the defaults, and an accent that needs a border on light pages.
pub fn filled() -> Value {
    let mut page = every_type();
    page["accent_color"] = json!("#ffe600");
    page["language"] = json!("en");
    page["background"] = json!("dots");
    page["button_style"] = json!("filled");
    page["font"] = json!("rounded");
    page
}

/// The same with still other choices.
pub fn outlined() -> Value {
    let mut page = filled();
    page["button_style"] = json!("outline");
    page["font"] = json!("serif");
    page
}

/// The maximum number of widgets.
pub fn hundred() -> Value {
    let links: Vec<Value> = (1..=100).map(|number| link(&format!("Recipe number {number}"))).collect();
    json!({"title": "All recipes", "widgets": links})
}

/// Words that do not fit on a line, emoji, a broken picture, an unknown network, and an illegible colour.
pub fn difficult() -> Value {
    let long = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft";
    json!({
        "title": long, "description": format!("{long} {long}"), "accent_color": "#ffff66", "theme": "light",
        "widgets": [
            {"type": "heading", "text": long},
            {"type": "link", "title": long, "url": format!("https://{}.example.com/{long}", "long-".repeat(10) + "host")},
            {"type": "text", "text": format!("{long}{long}")},
            {"type": "link", "title": "👩‍🍳🥖 🇫🇷 👨‍👩‍👧‍👦", "url": "https://example.com/emoji"},
            {"type": "image", "image_url": format!("{PICTURES}none.png"), "alt": long},
            {"type": "social", "network": "a network that nobody knows", "url": "https://social.example.com/ada"},
        ]
    })
}

/// A page in a script that is read from right to left.
pub fn right_to_left() -> Value {
    json!({
        "title": "مقهى الورد", "description": "قهوة وكتب وموسيقى كل مساء", "accent_color": "#1a2b3c", "theme": "dark",
        "widgets": [
            {"type": "heading", "text": "القائمة"},
            {"type": "link", "title": "المشروبات الساخنة", "url": "https://example.com/hot"},
            {"type": "text", "text": "نفتح من الثامنة صباحا"},
            {"type": "email", "address": "rose@example.com"},
        ]
    })
}

/// All sample pages with their names.
pub fn all() -> [(&'static str, Value); 8] {
    [
        ("bare", bare()),
        ("one", one()),
        ("every-type", every_type()),
        ("filled", filled()),
        ("outlined", outlined()),
        ("hundred", hundred()),
        ("difficult", difficult()),
        ("right-to-left", right_to_left()),
    ]
}

fn link(title: &str) -> Value {
    json!({"type": "link", "title": title, "url": format!("https://example.com/{}", title.len())})
}
