//! The disk is full (R40): writes fail and say so, everything else goes on, and nothing is broken when there is room
//! again.

use std::fs;
use std::time::{Duration, Instant};

use signpost_sqlite::DatabaseFile;

use crate::doors::Doors;
use crate::harness::{Program, redirect_body};
use crate::ledger::Ledger;
use crate::load::{self, Fault};
use crate::outcome::report;
use crate::scene::ANSWERED_WITHIN;
use crate::size::length;

/// The embedded store in a file that may not grow any more, until it may again.
#[test]
fn r40_a_full_disk_stops_writes_alone_and_nothing_is_broken_after_it() {
    let program = Program::builder().with_disk_that_fills().setting("store-timeout", "2s").start();
    let account = program.first_account();
    let link = account.create_redirect(&redirect_body(serde_json::json!({"note": "kept"})));
    let (path, open) = (
        format!("/v1/redirects/{}", link["id"].as_str().unwrap()),
        format!("/{}", link["slug"].as_str().unwrap()),
    );
    let (doors, ledger) = (Doors::new(std::slice::from_ref(&program), &account.key), Ledger::default());
    let outcome = load::run(&doors, &ledger, 4, |load| {
        load.await_answers(60);
        let sizes =
            fs::read_dir(program.folder()).unwrap().map(|file| file.unwrap().metadata().unwrap().len());
        let begin = Instant::now();
        program.limit_files(Some(sizes.max().unwrap() + 64 * 1024));
        load.await_failures(20);
        let full = Instant::now();
        while full.elapsed() < length(Duration::from_secs(1)) {
            assert_eq!(program.visitor().open(&open).status, 302);
            // Counting a request is a write, so reads of the API fail as well where that fails.
            assert!(matches!(account.get(&path).status, 200 | 500));
            program.with_key("").send_with("GET", "/health/live", &[], None).expect_status(200);
        }
        program.limit_files(None);
        Fault { begin, end: Instant::now() }
    });
    assert!(outcome.failures().iter().all(|sample| sample.what != "visit"), "{:?}", outcome.failures());
    outcome.is_answered_within(ANSWERED_WITHIN).has_failures().is_normal_again();
    account.delete(&path).expect_status(200);
    ledger.audit(&account);
    let file = DatabaseFile::at(program.folder().join("signpost.db")).unwrap();
    let copy = program.folder().join("copy.db");
    signpost_sqlite::back_up(&file, &copy, Duration::from_secs(10)).unwrap();
    report("R40, SQLite", &[outcome]);
}
