//! Passwords of links: the forms of both kinds, their pages, the list, and forms that are sent again (D126, D131, D137).

use signpost_app::{Operator, accounts};
use signpost_domain::{PlanName, Role};

use crate::edits::link;
use crate::harness::{Answer, Browser, Dashboard};
use crate::life::{create, fields, input, page_of, save};

const KINDS: [&str; 2] = ["redirect", "landing"];

const PASSWORD: &str = "plover egg tin";

/// What is stored of a link's password. The fake keeps it as it is, with a mark.
async fn stored(dashboard: &Dashboard, id: &str) -> Option<String> {
    let link = link(dashboard, id).await;
    let hash = dashboard.app.store.link_password(dashboard.account, link.id()).await.unwrap();
    assert_eq!(link.has_password, hash.is_some());
    hash.map(|hash| hash.as_str().to_owned())
}

/// Creates a link with a password.
async fn protected(editor: &Browser, kind: &str, slug: &str) -> String {
    create(editor, kind, slug, &[("link_password", PASSWORD)]).await.followed_id()
}

#[track_caller]
fn assert_hidden(answer: &Answer) {
    assert!(!answer.body.contains("plover") && !answer.body.contains("plain:"), "{}", answer.body);
    assert!(!answer.location().contains("plover"), "{}", answer.location());
}

#[actix_web::test]
async fn d131_forms_of_both_kinds_set_replace_and_remove_a_password() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    for kind in KINDS {
        let new = editor.get(&dashboard.path(&format!("links/new?kind={kind}"))).await;
        assert!(
            input(&new, "link_password").contains("autocomplete=off") && !new.body.contains("remove_link")
        );
        let created = create(&editor, kind, kind, &[("link_password", PASSWORD)]).await;
        assert_hidden(&created);
        let id = created.followed_id();
        assert_eq!(stored(&dashboard, &id).await.as_deref(), Some("plain:plover egg tin"));
        let page = page_of(&editor, &id).await;
        assert_hidden(&page);
        for part in [
            "<details class=\"more\" open><summary>Password",
            "<dt>Password</dt><dd>Visitors are asked for it</dd>",
            "name=\"remove_link_password\"",
        ] {
            assert!(page.body.contains(part), "{part}: {}", page.body);
        }
        // A form without the fields, such as one of a program, changes nothing, and neither does an empty one.
        let made = link(&dashboard, &id).await;
        for kept in [&[][..], &[("link_password", "")]] {
            assert_eq!(save(&editor, &id, kind, kept).await.status, 303);
            assert_eq!(link(&dashboard, &id).await, made, "{kept:?}");
        }
        let replaced = save(&editor, &id, kind, &[("link_password", "e\u{301}t\u{e9}s")]).await;
        assert_eq!(replaced.status, 303);
        assert_eq!(stored(&dashboard, &id).await.as_deref(), Some("plain:\u{e9}t\u{e9}s"), "in NFC");
        let both = [("link_password", PASSWORD), ("remove_link_password", "true")];
        assert_eq!(save(&editor, &id, kind, &both).await.status, 303);
        assert_eq!(
            stored(&dashboard, &id).await.as_deref(),
            Some("plain:plover egg tin"),
            "the safe reading"
        );
        let removal = [("link_password", ""), ("remove_link_password", "true")];
        assert_eq!(save(&editor, &id, kind, &removal).await.status, 303);
        assert_eq!(stored(&dashboard, &id).await, None);
        let page = page_of(&editor, &id).await.body;
        assert!(!page.contains("asked for it") && !page.contains("remove_link_password"), "{page}");
    }
}

/// Sent again without it, the form would save a link that lets everybody in. So the browser demands it.
#[actix_web::test]
async fn d131_a_refused_form_keeps_everything_but_the_password_and_says_so() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    for kind in KINDS {
        let again =
            "id=\"e-link_password\">Type the password again: it is not kept when something else is wrong.";
        let refused = create(&editor, kind, "two words", &[("link_password", PASSWORD)]).await;
        let id = protected(&editor, kind, kind).await;
        let edited = save(&editor, &id, "two words", &[("link_password", PASSWORD)]).await;
        for refused in [refused, edited] {
            assert_eq!(refused.status, 422, "{}", refused.body);
            assert_hidden(&refused);
            let input = input(&refused, "link_password");
            assert!(input.contains(" required") && input.contains("value=\"\""), "{input}");
            for part in [again, "value=\"two words\"", "href=\"#f-link_password\"", "open><summary>Password"]
            {
                assert!(refused.body.contains(part), "{part}: {}", refused.body);
            }
        }
        let short = "id=\"e-link_password\">Must have at least 4 characters.";
        for typed in ["abc", "e\u{301}e\u{301}e\u{301}"] {
            let refused = create(&editor, kind, "one", &[("link_password", typed)]).await;
            assert!(refused.status == 422 && refused.body.contains(short), "{typed}: {}", refused.body);
        }
        let removal = [("link_password", ""), ("remove_link_password", "true")];
        let refused = save(&editor, &id, "two words", &removal).await;
        let ticked = "name=\"remove_link_password\" value=\"true\" checked";
        assert!(refused.body.contains(ticked), "{}", refused.body);
        assert!(!input(&refused, "link_password").contains(" required"), "{}", refused.body);
    }
}

/// The forms of links have much in them, so they are kept when they do not count (D69), but for this field.
#[actix_web::test]
async fn d131_a_kept_form_asks_for_the_password_again() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let path = dashboard.path("links");
    dashboard.memory.store.faults().set_unavailable(true);
    let with = fields("redirect", "one", &[("link_password", PASSWORD), ("note", "Spring")]);
    let kept = editor.post(&path, &with).await;
    assert_eq!(kept.status, 503);
    assert_hidden(&kept);
    assert!(kept.body.contains("value=\"Spring\""), "{}", kept.body);
    assert!(input(&kept, "link_password").contains(" required"), "{}", kept.body);
    assert!(kept.body.contains("does not keep the password of the link. Type it again."), "{}", kept.body);
    let without = fields("redirect", "one", &[("link_password", ""), ("note", "Spring")]);
    let kept = editor.post(&path, &without).await;
    assert!(kept.body.contains("value=\"Spring\"") && !kept.body.contains("link_password"), "{}", kept.body);
}

#[actix_web::test]
async fn d137_on_a_plan_without_passwords_one_that_is_there_stays_and_can_only_be_removed() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let mut ids = vec![];
    for kind in KINDS {
        ids.push(protected(&editor, kind, kind).await);
    }
    let free = PlanName::parse("free").unwrap();
    accounts::set_plan(&dashboard.app, &Operator::COMMAND, dashboard.account, &free).await.unwrap();
    for (kind, id) in KINDS.into_iter().zip(ids) {
        let page = page_of(&editor, &id).await.body;
        assert!(
            page.contains("This link keeps the one that it has") && !page.contains("f-link_password"),
            "{page}"
        );
        let typed = [("link_password", PASSWORD)];
        let new = create(&editor, kind, "two", &typed).await;
        for refused in [save(&editor, &id, kind, &typed).await, new] {
            assert_eq!(refused.status, 422);
            assert_hidden(&refused);
            let part = "id=\"e-link_password\">The feature <code>link_access</code> is not part";
            assert!(refused.body.contains(part), "{}", refused.body);
            assert!(!input(&refused, "link_password").contains(" required"), "it can be given up");
        }
        assert_eq!(save(&editor, &id, kind, &[("note", "Kept")]).await.status, 303);
        assert!(stored(&dashboard, &id).await.is_some());
        assert_eq!(save(&editor, &id, kind, &[("remove_link_password", "true")]).await.status, 303);
        assert_eq!(stored(&dashboard, &id).await, None);
        for path in [format!("links/{id}"), format!("links/new?kind={kind}")] {
            let page = editor.get(&dashboard.path(&path)).await.body;
            assert!(
                page.contains("Your plan has no passwords of links.") && !page.contains("f-link_password")
            );
        }
    }
}

#[actix_web::test]
async fn d120_d131_a_stale_edit_says_what_it_would_do_to_the_password() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    for kind in KINDS {
        let id = protected(&editor, kind, kind).await;
        let revision = page_of(&editor, &id).await.hidden("revision");
        assert_eq!(save(&editor, &id, kind, &[("note", "Theirs")]).await.status, 303);
        for (typed, yours) in [
            ([("link_password", "plover harbour")], "<bdi>A new one</bdi>"),
            ([("remove_link_password", "true")], "<i>nothing</i>"),
        ] {
            let mine = [&typed[..], &[("revision", &revision)]].concat();
            let mine = fields("", kind, &mine);
            let stale = editor.post(&dashboard.path(&format!("links/{id}")), &mine).await;
            assert_eq!(stale.status, 409, "{}", stale.body);
            assert!(!stale.body.contains("plover harbour"), "{}", stale.body);
            let (_, rest) = stale.body.split_once("<h3>Password</h3>").unwrap();
            let both = rest.split("</div>").next().unwrap();
            assert!(both.contains(yours) && both.contains("<bdi>Set</bdi>"), "{both}");
        }
    }
}

#[actix_web::test]
async fn d126_the_list_marks_links_with_a_password_and_finds_them() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let closed = protected(&editor, "redirect", "closed").await;
    let open = create(&editor, "landing", "open", &[]).await.followed_id();
    let list = async |query: &str| editor.get(&dashboard.path(&format!("links{query}"))).await.body;
    let (mark, all) = ("<b class=\"tag\">Password</b>", list("").await);
    assert_eq!(all.matches(mark).count(), 1, "{all}");
    for (query, found, other) in [("with", &closed, &open), ("without", &open, &closed)] {
        let page = list(&format!("?password={query}")).await;
        assert!(page.contains(found) && !page.contains(other), "{page}");
        assert!(page.contains(&format!("<option value=\"{query}\" selected>")), "{page}");
    }
    let any = list("?password=perhaps").await;
    assert!(any.contains(&closed) && any.contains(&open), "{any}");
}
