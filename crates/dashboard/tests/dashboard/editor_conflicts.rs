//! Saving in the editor what somebody else changed meanwhile, or nobody (D68, D120).

use std::time::Duration;

use signpost_app::admission::enter;
use signpost_app::links;
use signpost_domain::{
    Change, Description, IdReference, LandingRequest, PageContent, PageContentRequest, Precondition,
    SecretToken, Submitted, Violations, WidgetBody, WidgetContent, WidgetDraft, WidgetText,
};

use crate::editor::{form_of, page, press, saved, seen};
use crate::harness::Answer;

#[actix_web::test]
async fn d68_a_stale_edit_shows_both_versions_and_loses_neither() {
    let (dashboard, editor, path) = page().await;
    let shown = editor.get(&path).await;
    dashboard.memory.clock.advance(std::time::Duration::from_secs(1));
    let yours = press(&editor, &path, &shown, "add-heading", &[]).await;
    let theirs = press(&editor, &path, &shown, "add-link", &[]).await;
    let typed = [("w0.title", "Their shop"), ("w0.url", "https://example.com/theirs")];
    saved(&editor, &path, &theirs, &typed).await;
    let stale = press(&editor, &path, &yours, "save", &[("w0.text", "My heading"), ("title", "Mine")]).await;
    assert_eq!(stale.status, 409);
    for part in ["Heading: My heading", "Link: Their shop", "Mine"] {
        assert!(stale.body.contains(part), "{part}: {}", stale.body);
    }
    let kept = saved(&editor, &path, &stale, &[]).await;
    assert!(kept.body.contains("My heading") && !kept.body.contains("Their shop"), "{}", kept.body);
}

#[actix_web::test]
async fn d68_a_conflict_in_the_editor_stays_until_the_person_decides() {
    let (dashboard, editor, path) = page().await;
    let clock = &dashboard.memory.clock;
    let mine = editor.get(&path).await;
    clock.advance(Duration::from_secs(1));
    saved(&editor, &path, &mine, &[("description", "Their words")]).await;
    let assert_shows_both = |answer: &Answer, theirs: &str| {
        let notice = answer.body.split_once("This link was changed meanwhile").expect("the notice").1;
        let (notice, form) = notice.split_once("<form id=\"editor\"").unwrap();
        let bar = form.split_once("data-unsaved").unwrap().0;
        for part in [theirs, "Mine", "Save mine anyway", "Take the saved one"] {
            assert!(notice.contains(part), "{part}: {notice}");
        }
        assert!(bar.contains("Save mine anyway") && bar.contains("Take the saved one"), "{bar}");
        assert!(!bar.contains(">Save<"), "{bar}");
    };
    let stale = press(&editor, &path, &mine, "save", &[("title", "Mine")]).await;
    assert_eq!(stale.status, 409);
    assert_shows_both(&stale, "Their words");
    let mut shown = press(&editor, &path, &stale, "add-heading", &[]).await;
    assert_shows_both(&shown, "Their words");
    for button in ["add-divider", "up-w1", "remove-w0", "restore-w0"] {
        shown = press(&editor, &path, &shown, button, &[("w0.text", "News")]).await;
        assert_shows_both(&shown, "Their words");
    }
    // A mistake is no decision either, because nothing was saved.
    let wrong = press(&editor, &path, &shown, "save", &[("accent_color", "red")]).await;
    assert_eq!(wrong.status, 422);
    assert_shows_both(&wrong, "Their words");
    // A third version is shown before it can be overwritten.
    clock.advance(Duration::from_secs(1));
    saved(&editor, &path, &editor.get(&path).await, &[("description", "Newer words")]).await;
    let third = press(&editor, &path, &shown, "save", &[]).await;
    assert_eq!(third.status, 409);
    assert_shows_both(&third, "Newer words");
    let kept = saved(&editor, &path, &third, &[]).await;
    assert!(kept.body.contains("value=\"Mine\"") && !kept.body.contains("Newer words"), "{}", kept.body);
    assert!(!kept.body.contains("changed meanwhile"), "{}", kept.body);
}

#[actix_web::test]
async fn d12_a_page_that_is_saved_twice_is_no_conflict() {
    let (dashboard, editor, path) = page().await;
    let shown = press(&editor, &path, &editor.get(&path).await, "add-heading", &[]).await;
    dashboard.memory.clock.advance(std::time::Duration::from_secs(1));
    for _ in 0..2 {
        saved(&editor, &path, &shown, &[("w0.text", "Once")]).await;
    }
    let without: Vec<_> = form_of(&shown).into_iter().filter(|(name, _)| name != "has_widgets").collect();
    let mut without: Vec<_> = without.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let revision = editor.get(&path).await.hidden("revision");
    without.retain(|(name, _)| *name != "revision");
    without.push(("revision", &revision));
    assert_eq!(editor.post(&path, &without).await.status, 303);
    assert!(seen(&editor, &path).await.contains("Once"), "a form that showed no widgets removes none");
}

#[actix_web::test]
async fn d120_saving_what_is_shown_keeps_the_line_ends_of_texts() {
    let (dashboard, editor, path) = page().await;
    let id = path.trim_end_matches("/page").rsplit('/').next().unwrap();
    let text = WidgetText::parse("Every day\r\nfrom 7").unwrap();
    let content = PageContentRequest {
        description: Change::Set(Description::parse("Two\r\nlines").unwrap()),
        widgets: Some(vec![WidgetDraft { id: None, content: WidgetContent::Text { text } }]),
        ..PageContentRequest::default()
    };
    let request = LandingRequest { content, ..LandingRequest::default() };
    let token = SecretToken::parse(&editor.token()).unwrap();
    let address = "203.0.113.9".parse().unwrap();
    let (_, caller) = enter(&dashboard.app, Some(&token), dashboard.account, address).await.unwrap();
    let submitted = Submitted { value: request, violations: Violations::new() };
    let by_api = links::update::<PageContent>(
        &dashboard.app,
        &caller,
        IdReference::parse(id),
        submitted,
        &Precondition::None,
    )
    .await
    .unwrap();
    let shown = editor.get(&path).await;
    assert!(shown.body.contains("Every day\nfrom 7"), "{}", shown.body);
    let again = saved(&editor, &path, &shown, &[]).await;
    assert_eq!(again.hidden("revision"), shown.hidden("revision"));
    let stored = async || {
        dashboard.app.store.landing_page(dashboard.account, id.parse().unwrap()).await.unwrap().unwrap()
    };
    assert_eq!(stored().await, by_api);
    // A changed text has the line ends of the form.
    saved(&editor, &path, &again, &[("w0.text", "Every day\nfrom 8")]).await;
    let widgets = stored().await.content.widgets;
    let WidgetBody::Known(WidgetContent::Text { text }) = &widgets.as_slice()[0].body else {
        panic!("a text")
    };
    assert_eq!(text.as_str(), "Every day\nfrom 8");
}
