//! The editor of landing pages: every widget, and nothing that was typed is lost (D34, D35).

use std::fmt::Write as _;

use actix_web::test::TestRequest;
use signpost_domain::Role;

use crate::harness::{Answer, Browser, Dashboard};

/// A page of an editor, and the path of its editor.
pub async fn page() -> (Dashboard, Browser, String) {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let form = [
        ("kind", "landing"),
        ("title", "Bread"),
        ("slug", "bread"),
        ("theme", "auto"),
        ("is_active", "on"),
        ("analytics_enabled", "on"),
    ];
    let id = editor.post(&dashboard.path("links"), &form).await.followed_id();
    let path = dashboard.path(&format!("links/{id}/page"));
    (dashboard, editor, path)
}

/// Whether a field is the text of a widget.
fn is_text(name: &str) -> bool {
    name.split_once('.').is_some_and(|(_, field)| field == "text")
}

/// The names and values of the form of the editor on a page, in its order, without its buttons.
pub fn form_of(page: &Answer) -> Vec<(String, String)> {
    let form = page.body.split_once("<form id=\"editor\"").unwrap().1.split_once("</form>").unwrap().0;
    let decoded = |text: &str| {
        text.replace("&#34;", "\"")
            .replace("&#39;", "'")
            .replace("&#60;", "<")
            .replace("&#62;", ">")
            .replace("&#38;", "&")
    };
    let attribute = |tag: &str, name: &str| {
        let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
        Some(decoded(rest.split_once('"')?.0))
    };
    let mut fields = Vec::new();
    for part in form.split('<').skip(1) {
        let (tag, rest) = part.split_once('>').unwrap();
        let tag = format!(" {}", tag.replace("name=w", " name=w"));
        let Some(name) = attribute(&tag, "name") else { continue };
        if tag.starts_with(" textarea") {
            fields.push((name, decoded(rest.strip_prefix('\n').unwrap_or(rest))));
        } else if tag.starts_with(" select") {
            let options =
                form.split_once(&format!("name=\"{name}\"")).unwrap().1.split_once("</select>").unwrap().0;
            let chosen = options
                .split("<option")
                .find(|option| option.split('>').next().unwrap().contains(" selected"));
            let chosen = chosen.or_else(|| options.split("<option").nth(1)).unwrap();
            fields.push((name, attribute(chosen, "value").unwrap()));
        } else if tag.starts_with(" input") {
            let is_choice = tag.contains("type=\"radio\"") || tag.contains("type=\"checkbox\"");
            if !is_choice || tag.contains(" checked") {
                fields.push((name, attribute(&tag, "value").unwrap_or_default()));
            }
        }
    }
    fields
}

/// Presses a button of the form on a page, with some values changed.
pub async fn press(
    browser: &Browser,
    path: &str,
    shown: &Answer,
    button: &str,
    typed: &[(&str, &str)],
) -> Answer {
    let mut fields = form_of(shown);
    for (name, value) in typed {
        match fields.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => (*value).clone_into(known),
            None => fields.push(((*name).to_owned(), (*value).to_owned())),
        }
    }
    fields.push(("do".to_owned(), button.to_owned()));
    let fields: Vec<(&str, &str)> =
        fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    browser.post(path, &fields).await
}

pub async fn saved(browser: &Browser, path: &str, shown: &Answer, typed: &[(&str, &str)]) -> Answer {
    let answer = press(browser, path, shown, "save", typed).await;
    assert_eq!(
        (answer.status, answer.location()),
        (303, format!("{path}?said=saved").as_str()),
        "{}",
        answer.body
    );
    browser.get(path).await
}

/// What visitors would see of the stored page.
pub async fn seen(browser: &Browser, path: &str) -> String {
    let answer = browser.get(&format!("{path}/preview")).await;
    assert_eq!(answer.status, 200);
    assert!(answer.header("content-security-policy").starts_with("sandbox; "));
    assert!(answer.header("content-security-policy").ends_with("frame-ancestors 'self'"));
    answer.body
}

#[actix_web::test]
async fn d35_a_widget_of_every_type_is_added_filled_and_saved() {
    let (_, editor, path) = page().await;
    let mut shown = editor.get(&path).await;
    for (place, (button, typed)) in [
        ("add-link", &[("title", "Our <shop>"), ("url", "https://example.com/shop")][..]),
        ("add-heading", &[("text", "Opening hours")]),
        ("add-text", &[("text", "Every day\nfrom 7")]),
        ("add-image", &[("image_url", "https://example.com/a.png"), ("alt", "A loaf")]),
        (
            "add-video",
            &[
                ("url", "https://www.youtube.com/watch?v=dQw4w9WgXcQ"),
                ("title", "How we bake"),
                ("thumbnail_url", "https://example.com/still.png"),
            ],
        ),
        ("add-social", &[("network", "instagram"), ("url", "https://instagram.com/bread")]),
        ("add-email", &[("address", "hello@example.com")]),
        ("add-contact", &[("method", "whatsapp"), ("number", "+44 20 7946 0958"), ("title", "Order")]),
        ("add-divider", &[]),
    ]
    .into_iter()
    .enumerate()
    {
        shown = press(&editor, &path, &shown, button, &[]).await;
        assert_eq!(shown.status, 200);
        let typed: Vec<(String, &str)> =
            typed.iter().map(|(name, value)| (format!("w{place}.{name}"), *value)).collect();
        let typed: Vec<(&str, &str)> = typed.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        shown = saved(&editor, &path, &shown, &typed).await;
    }
    assert_eq!(shown.body.matches("data-widget").count(), 9, "{}", shown.body);
    let page = seen(&editor, &path).await;
    let texts = ["Our &#60;shop&#62;", "Opening hours", "from 7", "A loaf", "How we bake", "Order", "wa.me"];
    for part in texts.into_iter().chain(["src=\"https://example.com/still.png\""]) {
        assert!(page.contains(part), "{part}: {page}");
    }
    let still = ("w4.thumbnail_url".to_owned(), "https://example.com/still.png".to_owned());
    assert!(form_of(&shown).contains(&still), "{}", shown.body);
    // Saving what is shown changes nothing, and keeps the ids of the widgets.
    let again = saved(&editor, &path, &shown, &[]).await;
    assert_eq!(again.hidden("revision"), shown.hidden("revision"));
}

#[actix_web::test]
async fn d34_the_look_of_a_page_is_chosen_and_its_accent_is_judged() {
    let (_, editor, path) = page().await;
    let shown = editor.get(&path).await;
    let look = [
        ("theme", "dark"),
        ("background", "dots"),
        ("button_style", "pill"),
        ("font", "serif"),
        ("accent_color", "#10131f"),
        ("language", "PT-br"),
        ("search_engines", "true"),
        ("avatar_url", "https://example.com/me.png"),
    ];
    let shown = saved(&editor, &path, &shown, &look).await;
    for (name, value) in look {
        let value = if name == "language" { "pt-BR" } else { value };
        assert!(
            form_of(&shown).contains(&(name.to_owned(), value.to_owned())),
            "{name}: {:?}",
            form_of(&shown)
        );
    }
    assert!(shown.body.contains("On dark, text and icons are shown in #"), "{}", shown.body);
    let page = seen(&editor, &path).await;
    assert!(page.contains("lang=\"pt-BR\"") && !page.contains("noindex"), "{page}");
    let judge = async |query: &str| editor.get(&format!("{path}/accent?{query}")).await.body;
    assert_eq!(
        judge("accent_color=%23116b4f&theme=light").await,
        "This colour is readable on the page as it is."
    );
    assert_eq!(judge("accent_color=red").await, "This is not a colour such as #116b4f.");
    assert_eq!(judge("accent_color=&theme=dark").await, "");
    // Emptied fields are cleared.
    let shown =
        saved(&editor, &path, &shown, &[("accent_color", ""), ("language", " "), ("avatar_url", "")]).await;
    assert!(seen(&editor, &path).await.contains("lang=\"und\""));
    assert!(!shown.body.contains("On dark, texts"));
}

#[actix_web::test]
async fn d35_widgets_move_and_removed_ones_can_be_restored_until_they_are_saved() {
    let (_, editor, path) = page().await;
    let mut shown = editor.get(&path).await;
    for _ in 0..3 {
        shown = press(&editor, &path, &shown, "add-heading", &[]).await;
    }
    let texts = [("w0.text", "One"), ("w1.text", "Two"), ("w2.text", "Three")];
    let texts_of = |page: &Answer| {
        let fields = form_of(page).into_iter().filter(|(name, _)| is_text(name));
        fields.map(|(_, text)| text).collect::<Vec<_>>()
    };
    let up = press(&editor, &path, &shown, "up-w2", &texts).await;
    assert_eq!(texts_of(&up), ["One", "Three", "Two"]);
    let down = press(&editor, &path, &up, "down-w0", &[]).await;
    assert_eq!(texts_of(&down), ["Three", "One", "Two"]);
    let keys = form_of(&down).into_iter().filter(|(name, _)| name == "widget").map(|(_, key)| key);
    assert_eq!(keys.collect::<Vec<_>>(), ["w2", "w0", "w1"], "widgets keep their keys");
    let removed = press(&editor, &path, &down, "remove-w0", &[]).await;
    assert_eq!(texts_of(&removed), ["Three", "One", "Two"], "it stays in the form");
    assert!(removed.body.contains("Removed when you save") && removed.body.contains("data-dirty"));
    let restored = press(&editor, &path, &removed, "restore-w0", &[]).await;
    assert!(!restored.body.contains("Removed when you save"));
    let kept = saved(&editor, &path, &removed, &[]).await;
    assert_eq!(texts_of(&kept), ["Three", "Two"]);
    assert!(!kept.body.contains("data-dirty"));
}

#[actix_web::test]
async fn d8_a_refused_page_keeps_everything_and_names_each_mistake() {
    let (_, editor, path) = page().await;
    let mut shown = editor.get(&path).await;
    for button in ["add-heading", "add-link", "add-contact"] {
        shown = press(&editor, &path, &shown, button, &[]).await;
    }
    // A removed widget is not judged, and does not shift the places of later mistakes.
    shown = press(&editor, &path, &shown, "remove-w0", &[]).await;
    let typed = [
        ("title", " "),
        ("accent_color", "red"),
        ("w1.title", "Shop"),
        ("w1.url", "shop"),
        ("w2.number", "12"),
        ("description", "Kept\nas typed"),
    ];
    let refused = press(&editor, &path, &shown, "save", &typed).await;
    assert_eq!(refused.status, 422);
    for (name, value) in typed {
        assert!(
            form_of(&refused).contains(&(name.to_owned(), value.to_owned())),
            "{name}: {:?}",
            form_of(&refused)
        );
    }
    for part in [
        "href=\"#f-title\"",
        "href=\"#f-accent_color\"",
        "<a href=\"#f-w1.url\">2. Link: Address</a>",
        "<a href=\"#f-w2.number\">3. Phone: Number</a>",
        "id=\"e-w1.url\"",
    ] {
        assert!(refused.body.contains(part), "{part}: {}", refused.body);
    }
    assert!(!refused.body.contains("#f-w0.text"), "{}", refused.body);
    assert!(!seen(&editor, &path).await.contains("Shop"), "nothing is saved");
    let mended = [
        ("title", "Bread"),
        ("accent_color", ""),
        ("w1.url", "https://example.com"),
        ("w2.number", "+442079460958"),
    ];
    saved(&editor, &path, &refused, &mended).await;
}

#[actix_web::test]
async fn d34_a_page_of_a_hundred_long_texts_can_be_edited_and_one_more_is_refused() {
    let (_, editor, path) = page().await;
    let shown = editor.get(&path).await;
    let long = "🥐".repeat(2000);
    let names: Vec<String> = (0..100).map(|place| format!("w{place}")).collect();
    let mut fields = form_of(&shown);
    for key in &names {
        fields.push(("widget".to_owned(), key.clone()));
        fields.push((format!("{key}.type"), "text".to_owned()));
        fields.push((format!("{key}.text"), long.clone()));
    }
    let send = async |fields: &[(String, String)]| {
        let fields: Vec<(&str, &str)> =
            fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        editor.post(&path, &fields).await
    };
    let added = fields.iter().cloned().chain([("do".to_owned(), "add-divider".to_owned())]);
    let full = send(&added.collect::<Vec<_>>()).await;
    assert_eq!((full.status, full.body.matches("data-widget").count()), (422, 100));
    assert!(full.body.contains("so no other can be added"), "it says why");
    fields.push(("do".to_owned(), "save".to_owned()));
    assert_eq!(send(&fields).await.status, 303);
    fields.push(("widget".to_owned(), "w100".to_owned()));
    fields.push(("w100.type".to_owned(), "divider".to_owned()));
    let refused = send(&fields).await;
    assert_eq!(refused.status, 422);
    assert!(refused.body.contains("at most 100 widgets"), "it says why");
    // What is repeated is read once, and what no page can have is not read at all.
    let mut repeated = fields.clone();
    repeated.extend((0..100_000).map(|_| ("widget".to_owned(), "w0".to_owned())));
    repeated.extend((0..1_000).map(|place| ("widget".to_owned(), format!("x{place}"))));
    repeated.retain(|(name, _)| !is_text(name) || name == "w0.text");
    let refused = send(&repeated).await;
    assert!(refused.body.len() < 1_000_000, "{} bytes", refused.body.len());
    let mut more = String::new();
    for _ in 0..3 {
        write!(more, "{}", long.repeat(60)).unwrap();
    }
    fields.push(("description".to_owned(), more));
    assert_eq!(send(&fields).await.status, 413, "it is bounded");
}

#[actix_web::test]
async fn d34_a_new_page_proposes_the_language_of_its_author() {
    let (dashboard, editor, _) = page().await;
    let new = dashboard.path("links/new?kind=landing");
    let request = TestRequest::get().uri(&new).insert_header(("accept-language", "de-at,de;q=0.9,en;q=0.1"));
    let form = editor.send(request).await;
    assert!(form.body.contains("name=\"language\" value=\"de-AT\""), "{}", form.body);
    let fields =
        |language| [("kind", "landing"), ("title", "Brot"), ("theme", "auto"), ("language", language)];
    let refused = editor.post(&dashboard.path("links"), &fields("german")).await;
    assert_eq!(refused.status, 422);
    assert!(refused.body.contains("href=\"#f-language\"") && refused.body.contains("value=\"german\""));
    let id = editor.post(&dashboard.path("links"), &fields("de-AT")).await.followed_id();
    let path = dashboard.path(&format!("links/{id}/page"));
    assert!(seen(&editor, &path).await.contains("lang=\"de-AT\""));
}

#[actix_web::test]
async fn d69_viewers_see_the_editor_without_buttons() {
    let (dashboard, _, path) = page().await;
    let viewer = dashboard.member("viewer@example.com", Role::Viewer).await;
    let shown = viewer.get(&path).await;
    assert!(
        shown.body.contains("<fieldset disabled>") && !shown.body.contains("name=\"do\""),
        "{}",
        shown.body
    );
    assert_eq!(viewer.post(&path, &[("do", "save")]).await.status, 403);
    assert_eq!(viewer.get(&format!("{path}/preview")).await.status, 200);
}

#[actix_web::test]
async fn an_added_widget_gets_the_focus_and_addresses_get_a_scheme() {
    let (_, editor, path) = page().await;
    let added = press(&editor, &path, &editor.get(&path).await, "add-link", &[]).await;
    let field = added.body.split_once("id=\"f-w0.title\"").unwrap().1.split('>').next();
    assert!(field.unwrap().contains(" autofocus"), "{}", added.body);
    assert_eq!(added.body.matches("autofocus").count(), 1, "{}", added.body);
    let typed = [("w0.title", "Shop"), ("w0.url", "www.shop.com/a"), ("avatar_url", "shop.com/a.png")];
    let shown = saved(&editor, &path, &added, &typed).await.body;
    assert!(shown.contains("\"https://www.shop.com/a\"") && shown.contains("\"https://shop.com/a.png\""));
}
