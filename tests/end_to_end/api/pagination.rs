//! Lists: contract "List envelope" and "Pagination rules"; D11. R35.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::harness::{Account, Program};

fn ids(items: &[Value]) -> Vec<String> {
    items.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
}

fn make_groups(account: &Account, count: usize) -> Vec<String> {
    let mut made: Vec<_> = (0..count).map(|n| account.create_group(&format!("group {n}"))).collect();
    made.reverse();
    ids(&made)
}

#[test]
fn list_envelope_is_object_data_and_pagination() {
    let program = Program::start();
    let account = program.first_account();
    for path in ["/v1/redirects", "/v1/groups"] {
        let empty = account.get(path).expect_status(200).body;
        let expected =
            json!({"object": "list", "data": [], "pagination": {"has_more": false, "next_cursor": null}});
        assert_eq!(empty, expected);
    }
    make_groups(&account, 3);
    let page = account.get("/v1/groups?limit=2").expect_status(200).body;
    assert_eq!(page["pagination"]["has_more"], true);
    assert!(page["pagination"]["next_cursor"].is_string());
    assert_eq!(page["pagination"].as_object().unwrap().len(), 2, "there is no total count");
}

#[test]
fn pagination_1_newest_first_in_a_fixed_order() {
    let program = Program::start();
    let account = program.first_account();
    let newest_first = make_groups(&account, 30);
    assert_eq!(ids(&account.walk("/v1/groups", "?limit=7")), newest_first);
    assert_eq!(ids(&account.walk("/v1/groups", "?limit=100")), newest_first);
    // The default is 25.
    let page = account.get("/v1/groups").body;
    assert_eq!(ids(page["data"].as_array().unwrap()), newest_first[..25]);
}

#[test]
fn pagination_3_next_cursor_is_null_exactly_when_there_is_no_more() {
    let program = Program::start();
    let account = program.first_account();
    make_groups(&account, 4);
    for limit in 1..=5 {
        let page = account.get(&format!("/v1/groups?limit={limit}")).body;
        assert_eq!(page["pagination"]["has_more"], limit < 4);
        assert_eq!(page["pagination"]["next_cursor"].is_null(), limit >= 4);
    }
}

#[test]
fn d11_a_cursor_is_url_safe_and_may_be_used_with_another_limit() {
    let program = Program::start();
    let account = program.first_account();
    let newest_first = make_groups(&account, 5);
    let page = account.get("/v1/groups?limit=2").body;
    let cursor = page["pagination"]["next_cursor"].as_str().unwrap();
    assert!(cursor.len() <= 512);
    assert!(cursor.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'));
    let rest = account.get(&format!("/v1/groups?limit=100&cursor={cursor}")).body;
    assert_eq!(ids(rest["data"].as_array().unwrap()), newest_first[2..]);
}

#[test]
fn d11_a_cursor_is_bound_to_account_list_and_filter() {
    let program = Program::start();
    let (one, other) = (program.account("agency"), program.account("agency"));
    let group = one.create_group("g")["id"].as_str().unwrap().to_owned();
    make_groups(&one, 2);
    let cursor_of = |path: &str| {
        let page = one.get(path).expect_status(200).body;
        page["pagination"]["next_cursor"].as_str().unwrap().to_owned()
    };
    for _ in 0..3 {
        one.create_redirect(&json!({"name": "x", "target_url": "https://example.com", "group_id": group}));
    }
    let invalid = [("cursor", "invalid_format")];
    let groups = cursor_of("/v1/groups?limit=1");
    let all = cursor_of("/v1/redirects?limit=1");
    let grouped = cursor_of(&format!("/v1/redirects?limit=1&group_id={group}"));
    let active = cursor_of("/v1/redirects?limit=1&is_active=true");
    other.get(&format!("/v1/groups?cursor={groups}")).expect_violations(&invalid);
    one.get(&format!("/v1/redirects?cursor={groups}")).expect_violations(&invalid);
    one.get(&format!("/v1/groups?cursor={all}")).expect_violations(&invalid);
    one.get(&format!("/v1/redirects?cursor={grouped}")).expect_violations(&invalid);
    one.get(&format!("/v1/redirects?group_id=none&cursor={grouped}")).expect_violations(&invalid);
    one.get(&format!("/v1/redirects?is_active=false&cursor={active}")).expect_violations(&invalid);
    one.get(&format!("/v1/redirects?q=x&cursor={all}")).expect_violations(&invalid);
    one.get(&format!("/v1/redirects?cursor={all}")).expect_status(200);
    one.get(&format!("/v1/redirects?group_id={group}&cursor={grouped}")).expect_status(200);
}

#[test]
fn d11_a_changed_cursor_is_refused() {
    let program = Program::start();
    let account = program.first_account();
    make_groups(&account, 3);
    let page = account.get("/v1/groups?limit=1").body;
    let cursor = page["pagination"]["next_cursor"].as_str().unwrap();
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for at in 0..cursor.len() {
        let mut changed = cursor.as_bytes().to_vec();
        let position = alphabet.iter().position(|byte| *byte == changed[at]).unwrap();
        for step in [1, 32] {
            changed[at] = alphabet[(position + step) % 64];
            let changed = std::str::from_utf8(&changed).unwrap();
            account
                .get(&format!("/v1/groups?cursor={changed}"))
                .expect_violations(&[("cursor", "invalid_format")]);
        }
    }
    for bad in [
        "",
        "x",
        "1",
        &cursor[1..],
        &cursor[..cursor.len() - 1],
        &format!("{cursor}A"),
        &format!("{cursor}="),
    ] {
        account.get(&format!("/v1/groups?cursor={bad}")).expect_violations(&[("cursor", "invalid_format")]);
    }
    let long = "A".repeat(513);
    account.get(&format!("/v1/groups?cursor={long}")).expect_violations(&[("cursor", "too_long")]);
}

#[test]
fn d11_a_cursor_outlives_the_item_it_stands_behind_and_a_restart() {
    let mut program = Program::start();
    let account = program.first_account();
    let newest_first = make_groups(&account, 4);
    let page = account.get("/v1/groups?limit=2").body;
    let cursor = page["pagination"]["next_cursor"].as_str().unwrap();
    account.delete(&format!("/v1/groups/{}", newest_first[1])).expect_status(200);
    program.kill();
    program.start_again();
    let account = program.with_key(&account.key);
    let rest = account.get(&format!("/v1/groups?cursor={cursor}")).expect_status(200).body;
    assert_eq!(ids(rest["data"].as_array().unwrap()), newest_first[2..]);
}

/// R35: 1,000 links listed in pages while others write and delete: each lasting one exactly once.
#[test]
fn d11_walking_while_links_come_and_go_shows_each_lasting_one_exactly_once() {
    let program = Program::start();
    let account = program.first_account();
    let body = json!({"name": "x", "target_url": "https://example.com"});
    let lasting: HashSet<String> = std::thread::scope(|scope| {
        let makers: Vec<_> = (0..4)
            .map(|_| {
                let (account, body) = (account.clone(), &body);
                scope.spawn(move || ids(&(0..250).map(|_| account.create_redirect(body)).collect::<Vec<_>>()))
            })
            .collect();
        makers.into_iter().flat_map(|maker| maker.join().unwrap()).collect()
    });
    let fleeting = ids(&(0..100).map(|_| account.create_redirect(&body)).collect::<Vec<_>>());
    let walked_out = AtomicBool::new(false);
    let walks = std::thread::scope(|scope| {
        let (deleter, writer) = (account.clone(), account.clone());
        let (body, walked_out) = (&body, &walked_out);
        scope.spawn(move || {
            for id in fleeting {
                deleter.delete(&format!("/v1/redirects/{id}")).expect_status(200);
            }
        });
        scope.spawn(move || {
            while !walked_out.load(Ordering::Relaxed) {
                writer.create_redirect(body);
            }
        });
        let walks: Vec<_> =
            [13, 100].map(|limit| account.walk("/v1/redirects", &format!("?limit={limit}"))).into();
        walked_out.store(true, Ordering::Relaxed);
        walks
    });
    for walk in walks {
        let walked = ids(&walk);
        let distinct: HashSet<_> = walked.iter().cloned().collect();
        assert_eq!(distinct.len(), walked.len(), "no link stands twice");
        assert!(lasting.is_subset(&distinct), "{} are missing", lasting.difference(&distinct).count());
    }
}
