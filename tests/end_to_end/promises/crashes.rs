//! A crash at any moment leaves a store that opens and holds every change that was answered (R19 on one node).

use serde_json::json;

use crate::harness::{Program, kill_at_work};

#[test]
fn after_kill_9_every_answered_change_is_there_and_the_counters_add_up() {
    let mut program = Program::start();
    let key = program.first_key().to_owned();
    let mut expected: Vec<String> = Vec::new();
    for round in 0..6 {
        // Before the work: on a busy machine the crash may come before a writer has had an answer.
        let account = program.with_key(&key);
        let groups =
            [0, 1, 2, 3].map(|writer| account.create_group(&format!("{round}-{writer}"))["id"].clone());
        // Each round crashes after another number of answers.
        let answered = kill_at_work(&mut program, groups.len(), 15 + 17 * round, |writer, account, note| {
            let group = &groups[writer];
            for number in 0.. {
                let slug = format!("r{round}w{writer}n{number}");
                let body = json!({"name": slug, "target_url": "https://example.com", "slug": slug, "group_id": group});
                // The request that the crash interrupts gets no answer, and may have been carried out or not.
                let Ok(answer) = account.try_send("POST", "/v1/redirects", Some(&body)) else { break };
                answer.expect_status(201);
                note(slug);
            }
        });
        expected.extend(answered);
        program.start_again();

        let account = program.with_key(&key);
        let visitor = program.visitor();
        for slug in &expected {
            assert_eq!(visitor.open(&format!("/{slug}")).status, 302, "{slug} was answered and is gone");
        }
        let links = account.walk("/v1/redirects", "?limit=100");
        assert!(links.len() >= expected.len());
        assert_eq!(account.get("/v1/account").body["usage"]["links"], links.len());
        for group in account.walk("/v1/groups", "?limit=100") {
            let inside = links.iter().filter(|link| link["group_id"] == group["id"]).count();
            assert_eq!(group["redirects_count"], inside);
        }
    }
}

/// D30: what succeeded in a batch is committed together, so a crash leaves all of it or nothing.
#[test]
fn d30_after_kill_9_a_batch_is_there_whole_or_not_at_all() {
    const ITEMS: usize = 40;
    let mut program = Program::start();
    let key = program.first_key().to_owned();
    let mut answered = Vec::new();
    for round in 0..4 {
        let done = kill_at_work(&mut program, 3, 3 + 2 * round, |writer, account, note| {
            for number in 0.. {
                // All links of a batch have its name.
                let batch = format!("{round}-{writer}-{number}");
                let item = json!({"name": batch, "target_url": "https://example.com"});
                let body = json!({"redirects": vec![item; ITEMS]});
                // The request that the crash interrupts gets no answer, and may have been carried out or not.
                let Ok(answer) = account.try_send("POST", "/v1/redirects/bulk", Some(&body)) else { break };
                assert_eq!(answer.expect_status(200).body["created_count"], ITEMS);
                note(batch);
            }
        });
        answered.extend(done);
        program.start_again();
    }
    let account = program.with_key(&key);
    let links = account.walk("/v1/redirects", "?limit=100");
    let mut batches = std::collections::BTreeMap::<String, usize>::new();
    for link in &links {
        *batches.entry(link["name"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    for (batch, links) in &batches {
        assert_eq!(*links, ITEMS, "{batch} is there in part");
    }
    for batch in &answered {
        assert!(batches.contains_key(batch), "{batch} was answered and is gone");
    }
    assert_eq!(account.get("/v1/account").body["usage"]["links"], links.len());
}
