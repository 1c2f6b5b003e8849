//! Random sequences of requests with few keys, held against a model of a few lines.

use std::cell::Cell;
use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

use super::{clients, nodes};
use crate::harness::{Account, Answer, assert_alike, assert_one_was_first, concurrently, redirect_body};

const CASES: u32 = 300;

/// How many accounts, and keys of each, and slugs there are in a case.
const ACCOUNTS: usize = 2;
const KEYS: usize = 3;
const SLUGS: usize = 3;

/// A kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ask {
    Redirect { slug: usize },
    RedirectAnywhere,
    RedirectInGroupOfNobody,
    RedirectWithoutTarget,
    Batch { slugs: [usize; 2] },
    Group,
    AssignToNobody,
    UnassignFromNobody,
}

#[derive(Debug, Clone)]
enum Step {
    Post {
        ask: Ask,
        key: Option<usize>,
        account: usize,
        node: usize,
        is_twice_at_once: bool,
    },
    /// One of the requests that are remembered, once more.
    Repeat {
        which: usize,
        node: usize,
        is_twice_at_once: bool,
    },
    Delete {
        slug: usize,
        key: usize,
        node: usize,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let ask = prop_oneof![
        4 => (0..SLUGS).prop_map(|slug| Ask::Redirect { slug }),
        1 => Just(Ask::RedirectAnywhere),
        1 => Just(Ask::RedirectInGroupOfNobody),
        1 => Just(Ask::RedirectWithoutTarget),
        2 => (0..SLUGS, 1..SLUGS).prop_map(|(one, next)| Ask::Batch { slugs: [one, (one + next) % SLUGS] }),
        2 => Just(Ask::Group),
        1 => Just(Ask::AssignToNobody),
        1 => Just(Ask::UnassignFromNobody),
    ];
    let key = prop_oneof![1 => Just(None), 6 => (0..KEYS).prop_map(Some)];
    let node = 0..2_usize;
    let twice = prop::bool::weighted(0.2);
    let post = (ask, key, 0..ACCOUNTS, node.clone(), twice);
    let post = post.prop_map(|(ask, key, account, node, is_twice_at_once)| Step::Post {
        ask,
        key,
        account,
        node,
        is_twice_at_once,
    });
    let repeat = (any::<usize>(), node.clone(), twice)
        .prop_map(|(which, node, is_twice_at_once)| Step::Repeat { which, node, is_twice_at_once });
    let delete = (0..SLUGS, 0..KEYS, node).prop_map(|(slug, key, node)| Step::Delete { slug, key, node });
    prop_oneof![5 => post, 2 => repeat, 1 => delete]
}

/// The expected state of a case, and the answers that were given.
struct Model<'a> {
    /// Each account's client at each node.
    accounts: &'a [Vec<Account>],
    /// With this begins every name of the case.
    name: String,
    /// Whose link is at a slug, and its id.
    slugs: BTreeMap<usize, (usize, String)>,
    /// How many links and groups each account has made and not deleted.
    made: [[i64; 2]; ACCOUNTS],
    /// What the keys were used for: which account's, and which of its keys.
    remembered: BTreeMap<(usize, usize), (Ask, Answer)>,
    /// How many answers were given again, and how many keys refused.
    seen: [u32; 2],
}

impl Model<'_> {
    fn slug(&self, slug: usize) -> String {
        format!("{}-{slug}", self.name)
    }

    fn key(&self, key: usize) -> String {
        format!("{}/key={key}", self.name)
    }

    /// The same for equal requests, and for no others.
    fn request(&self, ask: Ask) -> (String, Value) {
        let nobody = format!("grp_{}", "0".repeat(32));
        let redirect = |fields| ("/v1/redirects".to_owned(), redirect_body(fields));
        let moved = |way| {
            (format!("/v1/groups/{nobody}/{way}"), json!({"link_ids": [format!("rdr_{}", "0".repeat(32))]}))
        };
        match ask {
            Ask::Redirect { slug } => redirect(json!({"slug": self.slug(slug)})),
            Ask::RedirectAnywhere => redirect(json!({})),
            Ask::RedirectInGroupOfNobody => redirect(json!({"group_id": nobody})),
            Ask::RedirectWithoutTarget => ("/v1/redirects".to_owned(), json!({"name": "x"})),
            Ask::Batch { slugs } => {
                let items = slugs.map(|slug| redirect_body(json!({"slug": self.slug(slug)})));
                ("/v1/redirects/bulk".to_owned(), json!({"redirects": items}))
            }
            Ask::Group => ("/v1/groups".to_owned(), json!({"name": self.name})),
            Ask::AssignToNobody => moved("assign"),
            Ask::UnassignFromNobody => moved("unassign"),
        }
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Post { ask, key: None, account, node, is_twice_at_once: _ } => {
                let (path, body) = self.request(ask);
                let answer = self.client(account, node).post(&path, &body);
                assert!(!answer.is_replayed(), "{answer:?}");
                self.carried_out(ask, account, &answer);
            }
            Step::Post { ask, key: Some(key), account, node, is_twice_at_once } => {
                self.post_once(ask, (account, key), node, is_twice_at_once);
            }
            Step::Repeat { which, node, is_twice_at_once } => {
                let which = which % self.remembered.len().max(1);
                let Some((used, (ask, _))) = self.remembered.iter().nth(which) else { return };
                self.post_once(*ask, *used, node, is_twice_at_once);
            }
            Step::Delete { slug, key, node } => {
                let Some((account, id)) = self.slugs.remove(&slug) else { return };
                let client = self.client(account, node);
                let authorization = format!("Bearer {}", client.key);
                // With other methods the header means nothing.
                let key = self.key(key);
                let headers = [("Authorization", authorization.as_str()), ("Idempotency-Key", &key)];
                client.send_with("DELETE", &format!("/v1/redirects/{id}"), &headers, None).expect_status(200);
                self.made[account][0] -= 1;
            }
        }
    }

    fn post_once(&mut self, ask: Ask, used: (usize, usize), node: usize, is_twice_at_once: bool) {
        let (path, body) = self.request(ask);
        let (account, key) = used;
        let send = |node| self.client(account, node).post_once(&self.key(key), &path, &body);
        let answers = if is_twice_at_once { concurrently(2, send) } else { vec![send(node)] };
        self.hold(ask, used, answers);
    }

    fn client(&self, account: usize, node: usize) -> &Account {
        let nodes = &self.accounts[account];
        &nodes[node % nodes.len()]
    }

    /// Holds the answers to a request with a key, which was sent once or more often at once, against D12.
    fn hold(&mut self, ask: Ask, used: (usize, usize), answers: Vec<Answer>) {
        match self.remembered.get(&used) {
            Some((before, first)) if *before == ask => {
                for answer in &answers {
                    assert!(answer.is_replayed(), "{answer:?}");
                    assert_alike(first, answer);
                }
                self.seen[0] += 1;
            }
            Some(_) => {
                for answer in answers {
                    answer.expect_key_is_anothers();
                }
                self.seen[1] += 1;
            }
            None => {
                let is_kept = answers[0].status != 400;
                if is_kept {
                    assert_one_was_first(&answers);
                } else {
                    assert!(answers.iter().all(|answer| !answer.is_replayed()), "{answers:?}");
                }
                let first = answers.into_iter().next().unwrap();
                self.carried_out(ask, used.0, &first);
                if is_kept {
                    self.remembered.insert(used, (ask, first));
                }
            }
        }
    }

    /// Compares the answer with the expected state, and updates that state.
    fn carried_out(&mut self, ask: Ask, account: usize, answer: &Answer) {
        let expect = |status: u16, code: &str| {
            assert_eq!((answer.status, answer.code()), (status, code), "{ask:?}: {answer:?}");
        };
        let made = |made: &Value| (account, made["id"].as_str().unwrap().to_owned());
        match ask {
            Ask::Redirect { slug } if self.slugs.contains_key(&slug) => expect(409, "slug_already_taken"),
            Ask::Redirect { slug } => {
                expect(201, "");
                self.slugs.insert(slug, made(&answer.body));
                self.made[account][0] += 1;
            }
            Ask::RedirectAnywhere => {
                expect(201, "");
                self.made[account][0] += 1;
            }
            Ask::RedirectInGroupOfNobody | Ask::AssignToNobody | Ask::UnassignFromNobody => {
                expect(404, "group_not_found");
            }
            Ask::RedirectWithoutTarget => expect(400, "invalid_request"),
            Ask::Batch { slugs } => {
                expect(200, "");
                let free: Vec<usize> =
                    slugs.into_iter().filter(|slug| !self.slugs.contains_key(slug)).collect();
                let created = answer.body["created"].as_array().unwrap();
                assert_eq!(created.len(), free.len(), "{answer:?}");
                for (slug, created) in free.into_iter().zip(created) {
                    self.slugs.insert(slug, made(&created["data"]));
                    self.made[account][0] += 1;
                }
            }
            Ask::Group => {
                expect(201, "");
                self.made[account][1] += 1;
            }
        }
    }
}

fn usage(account: &Account) -> [i64; 2] {
    let usage = &account.get("/v1/account").expect_status(200).body["usage"];
    ["links", "groups"].map(|counted| usage[counted].as_i64().unwrap())
}

#[test]
fn d12_r5_random_sequences_of_requests_with_keys_are_answered_as_the_model_says() {
    let nodes = nodes();
    let accounts: Vec<Vec<Account>> = (0..ACCOUNTS).map(|_| clients(&nodes)).collect();
    let usages = || [0, 1].map(|account| usage(&accounts[account][0]));
    let (case, replayed, refused) = (Cell::new(0_u32), Cell::new(0_u32), Cell::new(0_u32));
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    // The same cases in every run.
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let outcome = runner.run(&vec(step(), 1..16), |steps| {
        case.set(case.get() + 1);
        let mut model = Model {
            accounts: &accounts,
            name: format!("case-{}", case.get()),
            slugs: BTreeMap::new(),
            made: [[0; 2]; ACCOUNTS],
            remembered: BTreeMap::new(),
            seen: [0; 2],
        };
        let before = usages();
        for step in steps {
            model.take(step);
        }
        let after = usages();
        for account in 0..ACCOUNTS {
            for counted in 0..2 {
                let made = after[account][counted] - before[account][counted];
                assert_eq!(made, model.made[account][counted]);
            }
        }
        replayed.set(replayed.get() + model.seen[0]);
        refused.set(refused.get() + model.seen[1]);
        Ok(())
    });
    outcome.unwrap();
    for seen in [replayed.get(), refused.get()] {
        assert!(seen > CASES, "{replayed:?} repeats and {refused:?} other requests are too few");
    }
}
