//! What clients were promised, and its audit. An answered change is stored, and an unanswered one is stored as
//! a whole or not at all (R19, D30).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use crate::harness::Account;

/// The state of links that were created together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// None of the links exists.
    Gone,
    /// All of the links exist, with these values.
    There { name: String, is_grouped: bool },
}

/// Links of one request. Each has the key of the subject as its note, which no request changes.
#[derive(Debug)]
struct Subject {
    links: usize,
    /// One state if the last request about the links was answered; otherwise any of these states is possible.
    possible: Vec<State>,
}

/// The promises about every subject.
#[derive(Debug, Default)]
pub struct Ledger {
    subjects: Mutex<BTreeMap<String, Subject>>,
    writers: AtomicUsize,
}

impl Ledger {
    /// A number that is unique to a writer.
    pub fn next_writer(&self) -> usize {
        self.writers.fetch_add(1, Ordering::Relaxed)
    }

    /// Records the outcome of a request, and whether it was answered with success.
    pub fn note(&self, key: &str, links: usize, outcome: State, is_answered: bool) {
        let mut subjects = self.subjects.lock().unwrap_or_else(PoisonError::into_inner);
        let subject =
            subjects.entry(key.to_owned()).or_insert_with(|| Subject { links, possible: vec![State::Gone] });
        if is_answered {
            subject.possible.clear();
        }
        subject.possible.push(outcome);
    }

    /// How many subjects have an answered state, and how many an unknown one.
    pub fn answered_and_unknown(&self) -> (usize, usize) {
        let subjects = self.subjects.lock().unwrap_or_else(PoisonError::into_inner);
        let answered = subjects.values().filter(|subject| subject.possible.len() == 1).count();
        (answered, subjects.len() - answered)
    }

    /// Compares all links of the account with the promises, and every counter with a recount.
    pub fn audit(&self, account: &Account) {
        let links = account.walk("/v1/redirects", "?limit=100");
        let mut found = BTreeMap::<String, Vec<&Value>>::new();
        for link in &links {
            let key = link["note"].as_str().unwrap_or_else(|| panic!("no request created {link}"));
            found.entry(key.to_owned()).or_default().push(link);
        }
        let subjects = self.subjects.lock().unwrap_or_else(PoisonError::into_inner);
        for key in found.keys() {
            assert!(subjects.contains_key(key), "no request created {key}");
        }
        for (key, Subject { links, possible }) in subjects.iter() {
            let state = match found.get(key) {
                None => State::Gone,
                Some(found) => {
                    assert_eq!(found.len(), *links, "{key} exists in part");
                    let states: Vec<State> = found.iter().map(|link| state(link)).collect();
                    assert!(
                        states.iter().all(|state| *state == states[0]),
                        "the links of {key} differ: {states:?}"
                    );
                    states[0].clone()
                }
            };
            assert!(possible.contains(&state), "{key} is {state:?} and not one of {possible:?}");
        }
        assert_eq!(account.get("/v1/account").expect_status(200).body["usage"]["links"], links.len());
        let groups = account.walk("/v1/groups", "?limit=100");
        assert_eq!(account.get("/v1/account").body["usage"]["groups"], groups.len());
        for group in groups {
            let inside = links.iter().filter(|link| link["group_id"] == group["id"]).count();
            assert_eq!(group["redirects_count"], inside, "{group}");
        }
    }
}

fn state(link: &Value) -> State {
    State::There { name: link["name"].as_str().unwrap().to_owned(), is_grouped: link["group_id"].is_string() }
}
