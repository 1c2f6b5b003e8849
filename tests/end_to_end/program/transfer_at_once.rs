//! Imports into one account that run at the same time (D60).

use serde_json::Value;

use super::transfer::{counts, import, write};
use crate::harness::Program;

#[test]
fn d60_imports_at_once_create_a_named_group_once() {
    let program = Program::start();
    let account = program.account("agency");
    let table = |import: usize| {
        let row = |number: usize| format!("i{import}-{number},https://example.com/,Group {}\n", number % 40);
        format!("slug,target_url,group\n{}", (0..120).map(row).collect::<String>())
    };
    let summaries: Vec<Value> = std::thread::scope(|scope| {
        let imports: Vec<_> = (0..4)
            .map(|number| {
                let file = format!("import-{number}.csv");
                write(&program, &file, &table(number));
                let (program, account) = (&program, &account);
                scope.spawn(move || import(program, account, &file).1)
            })
            .collect();
        imports.into_iter().map(|import| import.join().unwrap()).collect()
    });
    for summary in &summaries {
        assert_eq!(counts(summary), [120, 0, 0, 0], "{summaries:?}");
    }
    let created: u64 = summaries.iter().map(|summary| summary["groups_created"].as_u64().unwrap()).sum();
    assert_eq!(created, 40, "{summaries:?}");
    let groups = account.get("/v1/groups?limit=100").expect_status(200);
    let groups = groups.body["data"].as_array().unwrap();
    assert_eq!(groups.len(), 40);
    for group in groups {
        assert_eq!(group["redirects_count"], 12, "{group}");
    }
}

#[test]
fn d60_one_file_imported_at_once_conflicts_with_nothing() {
    let program = Program::start();
    let account = program.account("agency");
    let row = |number: usize| format!("same-{number},https://example.com/,Group {}\n", number % 40);
    write(&program, "same.csv", &format!("slug,target_url,group\n{}", (0..400).map(row).collect::<String>()));
    let summaries: Vec<Value> = std::thread::scope(|scope| {
        let imports: Vec<_> =
            (0..4).map(|_| scope.spawn(|| import(&program, &account, "same.csv").1)).collect();
        imports.into_iter().map(|import| import.join().unwrap()).collect()
    });
    let mut created = 0;
    for summary in &summaries {
        let [new, unchanged, conflicts, failed] = counts(summary);
        assert_eq!((new + unchanged, conflicts, failed), (400, 0, 0), "{summaries:?}");
        created += new;
    }
    assert_eq!(created, 400, "{summaries:?}");
    let groups = account.get("/v1/groups?limit=100").expect_status(200);
    assert_eq!(groups.body["data"].as_array().unwrap().len(), 40);
}
