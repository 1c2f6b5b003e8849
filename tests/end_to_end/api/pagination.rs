//! Walking lists over a restart and among writers: D11, R35.

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
