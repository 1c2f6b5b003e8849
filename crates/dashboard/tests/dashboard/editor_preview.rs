//! The preview beside the editor of a page.

use signpost_app::{Operator, accounts};

use crate::editor::{page, press, seen};
use crate::harness::Answer;

#[actix_web::test]
async fn a_preview_shows_what_is_typed_without_saving_it() {
    let (_, editor, path) = page().await;
    let shown = press(&editor, &path, &editor.get(&path).await, "add-heading", &[]).await;
    let shown = press(&editor, &path, &shown, "add-link", &[("w0.text", "Fresh today")]).await;
    let preview = press(&editor, &path, &shown, "preview", &[("w1.title", "Broken"), ("w1.url", "x")]).await;
    assert_eq!(preview.status, 200);
    assert!(preview.header("content-security-policy").starts_with("sandbox; "));
    assert!(preview.body.contains("Fresh today") && !preview.body.contains("Broken"), "{}", preview.body);
    assert!(!seen(&editor, &path).await.contains("Fresh today"));
}

#[actix_web::test]
async fn d74_a_failed_preview_says_why_in_the_frame_and_nowhere_else() {
    let (dashboard, editor, path) = page().await;
    let shown = editor.get(&path).await;
    let button = format!("formaction=\"{path}?preview=1\" formtarget=\"preview\"");
    assert!(shown.body.contains(&button), "{}", shown.body);
    let (of_typed, of_stored) = (format!("{path}?preview=1"), format!("{path}/preview"));
    let typed = [("title", "Typed"), ("do", "preview"), ("revision", "1")];
    let assert_says = |answer: &Answer, status: u16, parts: [&str; 2]| {
        assert_eq!(answer.status, status, "{}", answer.body);
        let policy = answer.header("content-security-policy");
        assert!(policy.starts_with("sandbox; default-src 'none'; "), "{policy}");
        assert!(policy.ends_with("frame-ancestors 'self'"), "{policy}");
        for part in parts {
            assert!(answer.body.contains(part), "{part}: {}", answer.body);
        }
        assert!(!answer.body.contains("<form") && !answer.body.contains("<link"), "{}", answer.body);
    };
    let preview = editor.post(&of_typed, &typed).await;
    assert_eq!(preview.status, 200);
    assert!(preview.body.contains("Typed"), "{}", preview.body);
    let kept = "What you typed is still in the form.";
    let signed_out = dashboard.browser();
    for answer in [signed_out.post(&of_typed, &typed).await, signed_out.get(&of_stored).await] {
        assert_says(&answer, 403, ["Your session has ended", "Sign in in a new tab"]);
    }
    let saved = signed_out.post(&path, &[("title", "Typed"), ("do", "save")]).await;
    assert!(saved.header("content-security-policy").contains("frame-ancestors 'none'"), "{saved:?}");
    dashboard.memory.store.faults().set_unavailable(true);
    let away = editor.post(&of_typed, &typed).await;
    assert_says(&away, 503, ["the database", kept]);
    assert_eq!(away.header("retry-after"), "5");
    dashboard.memory.store.faults().set_unavailable(false);
    let huge = "x".repeat(7 * 1024 * 1024);
    assert_says(&editor.post(&of_typed, &[("title", &huge)]).await, 413, ["at most 6 MB", kept]);
    let gone = path.replace("lnd_", "lnd_0");
    assert_says(
        &editor.post(&format!("{gone}?preview=1"), &typed).await,
        404,
        ["There is nothing here", kept],
    );
    accounts::suspend(&dashboard.app, &Operator::COMMAND, dashboard.account).await.unwrap();
    assert_says(&editor.post(&of_typed, &typed).await, 409, ["is suspended, so nothing", kept]);
}
