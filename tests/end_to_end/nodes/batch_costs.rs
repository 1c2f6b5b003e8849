//! What a batch costs: the statements that reach PostgreSQL. Without the servers the test is skipped with a notice.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::request_costs::{Cost, Scene};
use crate::harness::{Account, Answer, redirect_body};

/// The ids of what a batch created.
fn created_ids(answer: &Answer) -> Vec<Value> {
    answer.body["created"].as_array().unwrap().iter().map(|item| item["data"]["id"].clone()).collect()
}

/// Contract D30, D123: also with an `Idempotency-Key`.
#[test]
fn d30_d123_a_batch_of_a_hundred_costs_as_much_as_one_of_two() {
    let scene = match Scene::start() {
        Ok(scene) => scene,
        Err(absence) => return absence.tell("what a batch costs"),
    };
    let group = scene.account.create_group("Spring")["id"].clone();
    let mut number = 0;
    let mut fresh = || {
        number += 1;
        format!("slug-{number}")
    };
    let mut costs = BTreeMap::<&str, Vec<usize>>::new();
    for size in [2, 100] {
        let mut stock = Vec::new();
        let mut created = |account: &Account| {
            let items = vec![redirect_body(json!({"group_id": group})); size];
            let body = json!({"redirects": items});
            let answer = account.post_once(&fresh(), "/v1/redirects/bulk", &body).expect_status(200);
            stock.push(created_ids(&answer));
            answer
        };
        let mut batch = |name, cost: Cost, answer: Answer, count: &str| {
            assert_eq!(answer.body[count], size, "{answer:?}");
            let statements = cost.reads.len() + cost.in_transaction.len();
            assert!(statements <= 12, "{name} of {size}: {cost:#?}");
            costs.entry(name).or_default().push(statements);
        };
        let (cost, answer) = scene.cost(&mut created);
        batch("create", cost, answer, "created_count");
        let (cost, answer) = scene.cost(|account| {
            let tagged = |number| redirect_body(json!({"tags": ["sale", format!("{}-{number}", fresh())]}));
            let body = json!({"redirects": (0..size).map(tagged).collect::<Vec<_>>()});
            account.post_once(&fresh(), "/v1/redirects/bulk", &body)
        });
        batch("create with tags", cost, answer, "created_count");
        let group = group.as_str().unwrap();
        for (name, count) in [("unassign", "unassigned_count"), ("assign", "assigned_count")] {
            let mut batches = stock.iter();
            let (cost, answer) = scene.cost(|account| {
                let body = json!({"link_ids": batches.next()});
                account.post_once(&fresh(), &format!("/v1/groups/{group}/{name}"), &body)
            });
            batch(name, cost, answer, count);
        }
        // Contract D123: other names, tags and external ids, and then other addresses and groups.
        let ids = &stock[0];
        let (cost, answer) = scene.cost(|account| {
            let name = fresh();
            let change = |(number, id): (usize, &Value)| {
                json!({"id": id, "name": name, "tags": [name], "external_id": format!("{name}-{number}")})
            };
            let items: Vec<Value> = ids.iter().enumerate().map(change).collect();
            account.patch("/v1/redirects/bulk", &json!({"redirects": items}))
        });
        batch("update", cost, answer, "updated_count");
        let mut groups = [json!(null), json!(group)].into_iter().cycle();
        let (cost, answer) = scene.cost(|account| {
            let (name, group) = (fresh(), groups.next());
            let change = |(number, id): (usize, &Value)| {
                json!({"id": id, "slug": format!("{name}-{number}"), "group_id": group})
            };
            let items: Vec<Value> = ids.iter().enumerate().map(change).collect();
            account.patch("/v1/redirects/bulk", &json!({"redirects": items}))
        });
        batch("move", cost, answer, "updated_count");
        let mut batches = stock.iter();
        let (cost, answer) = scene.cost(|account| {
            let body = json!({"redirect_ids": batches.next()});
            account.post_once(&fresh(), "/v1/redirects/bulk/delete", &body)
        });
        batch("delete", cost, answer, "deleted_count");
        let (cost, answer) = scene.cost(|account| {
            let widgets = json!([{"type": "heading", "text": "Today"}]);
            let page = json!({"title": "Menu", "group_id": group, "widgets": widgets});
            account.post_once(&fresh(), "/v1/landings/bulk", &json!({"landings": vec![page; size]}))
        });
        let pages = created_ids(&answer);
        batch("create pages", cost, answer, "created_count");
        let (cost, answer) = scene.cost(|account| {
            let widgets = json!([{"type": "heading", "text": fresh()}]);
            let items: Vec<Value> = pages.iter().map(|id| json!({"id": id, "widgets": widgets})).collect();
            account.patch("/v1/landings/bulk", &json!({"landings": items}))
        });
        batch("update pages", cost, answer, "updated_count");
    }
    for (name, costs) in &costs {
        assert_eq!(costs[0], costs[1], "{name}");
    }
}

/// What differs between the links of a batch and what they were before costs a look-up for each kind of thing, whatever their number.
#[test]
fn d123_a_batch_that_changes_everything_at_once_costs_the_same_at_any_size() {
    let scene = match Scene::start() {
        Ok(scene) => scene,
        Err(absence) => return absence.tell("what a batch costs that changes everything"),
    };
    let account = &scene.account;
    let (host, group) = ("go.shop.com", account.create_group("Spring")["id"].clone());
    account.post("/v1/domains", &json!({"hostname": host})).expect_status(201);
    scene.database.run("UPDATE custom_domains SET status = 'active', deadline = NULL, next_check_at = NULL");
    let mut number = 0;
    let costs = [2, 100].map(|size| {
        let items = vec![redirect_body(json!({"group_id": group})); size];
        let created = account.post("/v1/redirects/bulk", &json!({"redirects": items})).expect_status(200);
        let ids = created_ids(&created);
        let (cost, answer) = scene.cost(|account| {
            number += 1;
            let (name, is_even) = (format!("all-{number}"), number % 2 == 0);
            let (domain, group) =
                if is_even { (json!(null), json!(null)) } else { (json!(host), group.clone()) };
            let change = |(at, id): (usize, &Value)| {
                json!({
                    "id": id, "name": name, "tags": [name], "external_id": format!("{name}-{at}"),
                    "slug": format!("{name}-{at}"), "domain": domain, "group_id": group,
                })
            };
            let items: Vec<Value> = ids.iter().enumerate().map(change).collect();
            account.patch("/v1/redirects/bulk", &json!({"redirects": items}))
        });
        assert_eq!(answer.body["updated_count"], size, "{answer:?}");
        let statements = cost.reads.len() + cost.in_transaction.len();
        assert!(statements <= 17, "{size}: {cost:#?}");
        statements
    });
    assert_eq!(costs[0], costs[1]);
}

/// Contract D124: a unit of work takes the same statements for any number of links.
#[test]
fn d124_a_unit_of_a_change_by_filter_costs_the_same_for_any_number_of_links() {
    let scene = match Scene::start() {
        Ok(scene) => scene,
        Err(absence) => return absence.tell("what a change by filter costs"),
    };
    let account = &scene.account;
    let group = account.create_group("Spring")["id"].clone();
    let mut number = 0;
    let costs = [2, 100].map(|size| {
        let tag = format!("of-{size}");
        let links = vec![redirect_body(json!({"tags": [tag]})); size];
        account.post("/v1/redirects/bulk", &json!({"redirects": links})).expect_status(200);
        let (cost, answer) = scene.cost(|account| {
            number += 1;
            let is_even = number % 2 == 0;
            let (group, added, removed) =
                if is_even { (json!(null), "even", "odd") } else { (group.clone(), "odd", "even") };
            let patch = json!({
                "is_active": is_even, "group_id": group, "add_tags": [added], "remove_tags": [removed],
            });
            let body = json!({"filter": {"tag": [tag]}, "patch": patch});
            account.post("/v1/redirects/update-matching", &body)
        });
        assert_eq!(answer.body["updated_count"], size, "{answer:?}");
        let statements = cost.reads.len() + cost.in_transaction.len();
        assert!(statements <= 17, "{size}: {cost:#?}");
        statements
    });
    assert_eq!(costs[0], costs[1]);
}
