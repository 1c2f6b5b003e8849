//! R5: a `POST` with an `Idempotency-Key` is carried out once, however often it is sent, and answered alike each time (D12).
//!
//! On servers there are two nodes, and every request may be sent to either. How it is while a server fails, or one of
//! the nodes, is among the faults.

mod at_once;
mod crashes;
mod model;

use crate::harness::{Account, Program, Store};

/// As many programs on one store as that can have.
fn nodes() -> Vec<Program> {
    let first = Program::start();
    let further = match Store::of_this_run() {
        Store::Embedded => None,
        Store::Servers => Some(first.beside(&[])),
    };
    [first].into_iter().chain(further).collect()
}

/// A new account's client at each node.
fn clients(nodes: &[Program]) -> Vec<Account> {
    let account = nodes[0].account("agency");
    nodes.iter().map(|node| node.with_key(&account.key)).collect()
}
