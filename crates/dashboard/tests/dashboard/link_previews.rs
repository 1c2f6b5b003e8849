//! The cards that link previewers show of redirects: their form and their page (D135, D137).

use signpost_app::{Operator, accounts};
use signpost_domain::{Change, Description, LinkPreview, PlanName, PreviewTitle, Role, WebUrl};

use crate::edits::link;
use crate::harness::{Answer, Dashboard};
use crate::life::{create, fields, input, page_of, save, value};
use crate::rules::change;

/// A form that asks for a card with every part.
const CARD: [(&str, &str); 3] = [
    ("preview_title", "Autumn & sale"),
    ("preview_description", "Until Sunday.\r\nHalf of everything."),
    ("preview_image_url", "https://example.com/a.jpg"),
];

const NONE: [(&str, &str); 3] =
    [("preview_title", ""), ("preview_description", " \r\n"), ("preview_image_url", "")];

/// The card of a redirect: its title, its description and its picture.
async fn card(dashboard: &Dashboard, id: &str) -> Option<(String, Option<String>, Option<String>)> {
    let preview = link(dashboard, id).await.into_redirect().unwrap().content.preview?;
    Some((
        preview.title().as_str().to_owned(),
        preview.description().map(|text| text.as_str().to_owned()),
        preview.image_url().map(|url| url.as_str().to_owned()),
    ))
}

/// The text in the description of a form.
fn description(page: &Answer) -> &str {
    let (_, rest) = page.body.split_once("name=\"preview_description\"").unwrap();
    rest.split_once(">\n").unwrap().1.split_once("</textarea>").unwrap().0
}

#[actix_web::test]
async fn d135_the_form_of_a_redirect_takes_a_card() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let new = editor.get(&dashboard.path("links/new")).await.body;
    assert!(new.contains("><summary>Card in messengers"), "{new}");
    assert!(!new.contains(" open><summary>Card in messengers"), "{new}");
    let id = create(&editor, "redirect", "one", &CARD).await.followed_id();
    let stored = Some((
        "Autumn & sale".to_owned(),
        Some("Until Sunday.\nHalf of everything.".to_owned()),
        Some("https://example.com/a.jpg".to_owned()),
    ));
    assert_eq!(card(&dashboard, &id).await, stored);
    let made = link(&dashboard, &id).await;
    let page = page_of(&editor, &id).await;
    assert_eq!(value(&page, "preview_title"), "Autumn &#38; sale");
    assert_eq!(description(&page), "Until Sunday.\nHalf of everything.");
    assert_eq!(value(&page, "preview_image_url"), "https://example.com/a.jpg");
    for part in [
        " open><summary>Card in messengers",
        "&#34;preview&#34;:{&#34;title&#34;:&#34;Autumn &#38; sale&#34;,&#34;description&#34;:",
    ] {
        assert!(page.body.contains(part), "{part}: {}", page.body);
    }
    // Saved as it was shown, and by a form of the version before.
    for kept in [&CARD[..], &[]] {
        assert_eq!(save(&editor, &id, "one", kept).await.status, 303);
        assert_eq!(link(&dashboard, &id).await, made, "{kept:?}");
    }
    let title = [("preview_title", " Plain "), ("preview_description", ""), ("preview_image_url", " ")];
    assert_eq!(save(&editor, &id, "one", &title).await.status, 303);
    assert_eq!(card(&dashboard, &id).await, Some(("Plain".to_owned(), None, None)));
    let picture = [("preview_image_url", "www.example.com/b.png")];
    assert_eq!(save(&editor, &id, "one", &picture).await.status, 303);
    let completed = Some("https://www.example.com/b.png".to_owned());
    assert_eq!(card(&dashboard, &id).await, Some(("Plain".to_owned(), None, completed)));
    assert_eq!(save(&editor, &id, "one", &NONE).await.status, 303);
    assert_eq!(card(&dashboard, &id).await, None);
    assert!(!page_of(&editor, &id).await.body.contains("preview&#34;"));
    let landing = editor.get(&dashboard.path("links/new?kind=landing")).await.body;
    assert!(!landing.contains("preview_title") && !landing.contains("Card in messengers"), "{landing}");
}

#[actix_web::test]
async fn d135_the_page_of_a_redirect_sketches_its_card() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let id = create(&editor, "redirect", "one", &[]).await.followed_id();
    assert!(!page_of(&editor, &id).await.body.contains("<h2>Card in messengers</h2>"));
    let typed = [("preview_title", "<b>Sale</b>"), ("preview_description", "Half & half")];
    assert_eq!(save(&editor, &id, "one", &typed).await.status, 303);
    let sketch = async || {
        let page = page_of(&editor, &id).await.body;
        let (_, rest) = page.split_once("<h2>Card in messengers</h2>").unwrap();
        rest.split_once("</section>").unwrap().0.to_owned()
    };
    let shown = sketch().await;
    for part in [
        "<h3><bdi>&#60;b&#62;Sale&#60;/b&#62;</bdi></h3><p><bdi>Half &#38; half</bdi></p>",
        "<small>go.example.com/one</small>",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains("Card picture"), "{shown}");
    let picture = [("preview_description", ""), ("preview_image_url", "https://example.com/a.jpg")];
    assert_eq!(save(&editor, &id, "one", &picture).await.status, 303);
    let shown = sketch().await;
    assert!(shown.contains("Card picture: <bdi>https://example.com/a.jpg</bdi>"), "{shown}");
    assert!(!shown.contains("<img") && !shown.contains("Half"), "{shown}");
    let viewer = dashboard.member("viewer@example.com", Role::Viewer).await;
    assert!(page_of(&viewer, &id).await.body.contains("<h2>Card in messengers</h2>"));
}

#[actix_web::test]
async fn d135_what_is_refused_is_blamed_on_its_field_and_nothing_is_lost() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let (long_title, long_text) = ("x".repeat(201), "x".repeat(501));
    for (name, typed, reason) in [
        ("preview_title", " ", "Must not be empty while the card has a description or a picture."),
        ("preview_title", long_title.as_str(), "Must have at most 200 characters."),
        ("preview_title", "a\u{1}b", "Must not contain control characters."),
        ("preview_description", long_text.as_str(), "Must have at most 500 characters."),
        ("preview_image_url", "ftp://example.com/a.jpg", ""),
    ] {
        let mut form = CARD;
        form.iter_mut().filter(|(field, _)| *field == name).for_each(|field| field.1 = typed);
        let refused = create(&editor, "redirect", "one", &form).await;
        assert_eq!(refused.status, 422, "{name} {typed}");
        assert_eq!(refused.body.matches("aria-invalid").count(), 1, "{}", refused.body);
        assert!(refused.body.contains(&format!("id=\"e-{name}\">{reason}")), "{}", refused.body);
        assert!(refused.body.contains(&format!("href=\"#f-{name}\"")), "{}", refused.body);
        assert!(refused.body.contains(" open><summary>Card in messengers"), "{}", refused.body);
        let typed = form.map(|(_, typed)| typed.replace('&', "&#38;").replace("\r\n", "\n"));
        let shown = [
            value(&refused, "preview_title"),
            description(&refused).to_owned(),
            value(&refused, "preview_image_url"),
        ];
        assert_eq!(shown, typed);
    }
    // A mistake elsewhere keeps the card too.
    let refused = create(&editor, "redirect", "two words", &CARD).await;
    assert_eq!((refused.status, value(&refused, "preview_title").as_str()), (422, "Autumn &#38; sale"));
    assert_eq!(description(&refused), "Until Sunday.\nHalf of everything.");
}

#[actix_web::test]
async fn d137_without_the_feature_a_card_can_only_be_removed() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let id = create(&editor, "redirect", "one", &CARD).await.followed_id();
    let before = card(&dashboard, &id).await;
    let free = PlanName::parse("free").unwrap();
    accounts::set_plan(&dashboard.app, &Operator::COMMAND, dashboard.account, &free).await.unwrap();
    let page = page_of(&editor, &id).await;
    assert_eq!(value(&page, "preview_title"), "Autumn &#38; sale");
    assert!(page.body.contains("empty all three fields to remove it"), "{}", page.body);
    let other = [("preview_title", "Another")];
    let refused = save(&editor, &id, "one", &other).await;
    let reason = "id=\"e-preview_title\">The feature <code>link_previews</code> is not part";
    assert!(refused.status == 422 && refused.body.contains(reason), "{}", refused.body);
    assert_eq!(value(&refused, "preview_title"), "Another");
    for kept in [&[("note", "Kept")][..], &CARD] {
        assert_eq!(save(&editor, &id, "one", kept).await.status, 303);
        assert_eq!(card(&dashboard, &id).await, before);
    }
    // A refused form still has the emptied fields: without them, sending the form again would keep the card.
    let refused = save(&editor, &id, "two words", &NONE).await;
    assert_eq!((refused.status, value(&refused, "preview_title").as_str()), (422, ""));
    assert_eq!(save(&editor, &id, "one", &NONE).await.status, 303);
    assert_eq!(card(&dashboard, &id).await, None);
    for path in [format!("links/{id}"), "links/new".to_owned()] {
        let page = editor.get(&dashboard.path(&path)).await.body;
        assert!(
            page.contains("Your plan does not include cards.") && !page.contains("f-preview_title"),
            "{page}"
        );
    }
    let refused = create(&editor, "redirect", "two", &CARD).await;
    assert!(refused.status == 422 && refused.body.contains(reason), "{}", refused.body);
    assert!(input(&refused, "preview_title").contains("value=\"Autumn &#38; sale\""), "{}", refused.body);
    assert_eq!(description(&refused), "Until Sunday.\nHalf of everything.");
}

#[actix_web::test]
async fn d120_d135_a_stale_edit_shows_both_cards() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let id = create(&editor, "redirect", "one", &CARD).await.followed_id();
    let revision = page_of(&editor, &id).await.hidden("revision");
    let theirs = [("preview_title", "Theirs"), ("preview_description", "")];
    assert_eq!(save(&editor, &id, "one", &theirs).await.status, 303);
    let mine = [("preview_title", "Mine"), ("preview_image_url", ""), ("revision", &revision)];
    let mine = fields("", "one", &mine);
    let stale = editor.post(&dashboard.path(&format!("links/{id}")), &mine).await;
    assert_eq!((stale.status, value(&stale, "preview_title").as_str()), (409, "Mine"));
    for (label, yours, stored) in [
        ("Card title", "<bdi>Mine</bdi>", "<bdi>Theirs</bdi>"),
        ("Card picture", "<i>nothing</i>", "<bdi>https://example.com/a.jpg</bdi>"),
    ] {
        let (_, rest) = stale.body.split_once(&format!("<h3>{label}</h3>")).unwrap();
        let both = rest.split("</div>").next().unwrap();
        assert!(both.contains(yours) && both.contains(stored), "{both}");
    }
}

/// The API keeps line ends as they were sent, and a form that is saved as it was shown changes none of them.
#[actix_web::test]
async fn d135_a_description_keeps_its_line_ends_in_a_form_that_leaves_it_alone() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let id = create(&editor, "redirect", "one", &[]).await.followed_id();
    let preview = LinkPreview::new(
        PreviewTitle::parse("Sale").unwrap(),
        Some(Description::parse("a\r\nb").unwrap()),
        Some(WebUrl::parse("https://example.com/a.jpg").unwrap()),
    );
    change(&editor, &id, |content| content.preview = Change::Set(preview)).await;
    let before = card(&dashboard, &id).await;
    assert_eq!(before.as_ref().unwrap().1.as_deref(), Some("a\r\nb"));
    let shown = [
        ("preview_title", "Sale"),
        ("preview_description", "a\r\nb"),
        ("preview_image_url", "https://example.com/a.jpg"),
    ];
    assert_eq!(save(&editor, &id, "one", &shown).await.status, 303);
    assert_eq!(card(&dashboard, &id).await, before);
}
