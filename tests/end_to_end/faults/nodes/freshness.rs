//! A change shows at once on the node that answered it, and within a second on every other (D58, R12).

use std::time::{Duration, Instant};

use serde_json::json;

use super::{NODES, WHO};
use crate::harness::{Account, Visit, redirect_body};
use crate::scene::Scene;
use crate::size::{count, report, within};

/// How soon every node shows a change.
const SEEN_WITHIN: Duration = Duration::from_secs(1);

/// What a visitor must see.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Sight {
    Target(String),
    Nothing,
}

impl Sight {
    fn of(visit: &Visit) -> Self {
        match (visit.status, visit.location()) {
            (302, Some(target)) => Self::Target(target.to_owned()),
            (404, None) => Self::Nothing,
            _ => panic!("{visit:?}"),
        }
    }
}

/// A change of a link.
#[derive(Debug, Clone, Copy)]
enum Change {
    Edit,
    Deactivate,
    Activate,
    Move,
    Return,
    Delete,
}

const CHANGES: [Change; 5] =
    [Change::Edit, Change::Deactivate, Change::Activate, Change::Move, Change::Return];

/// A link as its account has left it.
struct Link {
    path: String,
    slug: String,
    target: String,
    is_active: bool,
    is_there: bool,
}

impl Link {
    fn create(account: &Account, number: usize) -> Self {
        let slug = format!("hot-{number}");
        let link = account.create_redirect(&redirect_body(json!({"slug": slug})));
        let text = |field: &str| link[field].as_str().unwrap().to_owned();
        let (path, target) = (format!("/v1/redirects/{}", text("id")), text("target_url"));
        Self { path, slug, target, is_active: true, is_there: true }
    }

    fn change(&mut self, account: &Account, change: Change, number: usize) {
        let body = match change {
            Change::Edit => {
                self.target = format!("https://example.org/{number}");
                json!({"target_url": self.target})
            }
            Change::Deactivate | Change::Activate => {
                self.is_active = matches!(change, Change::Activate);
                json!({"is_active": self.is_active})
            }
            Change::Move | Change::Return => {
                self.is_there = matches!(change, Change::Return);
                json!({"slug": if self.is_there { self.slug.clone() } else { format!("{}-moved", self.slug) }})
            }
            Change::Delete => {
                self.is_there = false;
                account.delete(&self.path).expect_status(200);
                return;
            }
        };
        account.patch(&self.path, &body).expect_status(200);
    }

    fn sight(&self) -> Sight {
        if self.is_there && self.is_active { Sight::Target(self.target.clone()) } else { Sight::Nothing }
    }
}

/// Edits, deactivates, moves and deletes links that were just visited on every node, each change at another
/// node. Outdated content that has gone from a node must not reappear there.
#[test]
fn d58_r12_a_change_shows_at_once_on_its_node_and_soon_on_others() {
    let Some(scene) = Scene::undisturbed(WHO, NODES) else { return };
    let account = |number: usize| scene.balancer.pick(number).account;
    let mut latest = Duration::ZERO;
    let links = count(12, 1_000);
    for number in 0..links {
        let mut link = Link::create(&account(number), number);
        let open = format!("/{}", link.slug);
        let seen = |node: usize| Sight::of(&scene.balancer.pick(node).visitor.open(&open));
        // The order differs between links, but is the same in every run.
        let mut changes: Vec<Change> =
            (0..3).map(|step| CHANGES[(number * 7 + step * 3 + number / 5) % 5]).collect();
        changes.push(Change::Delete);
        for (step, change) in changes.into_iter().enumerate() {
            let node = number + step;
            for other in 0..NODES {
                assert_eq!(seen(other), link.sight());
            }
            link.change(&account(node), change, node);
            let answered = Instant::now();
            assert_eq!(seen(node), link.sight(), "{change:?}: at once on its own node");
            for other in 0..NODES {
                // A visit is judged by its start: what it takes itself is not part of the promise.
                let mut asked = answered.elapsed();
                while seen(other) != link.sight() {
                    let is_outdated = asked > within(SEEN_WITHIN);
                    assert!(!is_outdated, "{change:?}: node {other} shows outdated content after {asked:?}");
                    std::thread::sleep(Duration::from_millis(2));
                    asked = answered.elapsed();
                }
                latest = latest.max(asked);
            }
        }
    }
    report("R12", &format!("{links} links changed and deleted, seen everywhere within {latest:.2?}"));
}
