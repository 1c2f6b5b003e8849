//! The statements of all cases of the contract, so that a method of the port needs a case there and nothing here.

use std::collections::BTreeSet;
use std::thread;
use std::time::Duration;

use signpost_port_contracts::store;

use super::store_fixture::fresh_store;
use super::{Subject, assert_frugal, plan, recorder};

/// Statements that read a whole table on purpose.
fn is_excepted(statement: &str) -> bool {
    // An operator's question: how many accounts are on each plan.
    let counts_plans = statement.starts_with("SELECT `accounts`.`plan`, COUNT(*)");
    // Diesel's text for an empty list; SQLite reads no row for it.
    counts_plans || statement.ends_with("WHERE (1=0)")
}

pub(crate) async fn is_found_by_indexes(subject: &mut Subject) {
    let (opening, _) = recorder::recorded(fresh_store(Duration::from_mins(1))).await;
    let mut seen: BTreeSet<String> = opening.into_iter().collect();
    // Cases about time limits run statements of others, and depend on how busy the machine is.
    for (file, case) in store::cases().filter(|(file, _)| *file != "time_limits") {
        let running = async {
            // A case has a runtime of its own.
            thread::spawn(move || store::run(file, case, fresh_store)).join().unwrap();
        };
        let (statements, ()) = recorder::recorded(running).await;
        for statement in statements {
            if seen.insert(statement.clone())
                && !recorder::is_steering(&statement)
                && !is_excepted(&statement)
            {
                assert_frugal(&statement, &plan(&mut subject.connection, &statement));
            }
        }
    }
    assert!(seen.len() > 200, "{seen:#?}");
}
