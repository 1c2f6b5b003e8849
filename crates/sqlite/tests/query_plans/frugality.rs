//! Which plans read no more rows than they return.

/// Whether a step reads no table. Rows within the statement cost nothing: `moves`, `changed`, `plans` and `places` are the names of
/// the statements about counters, changed links, checks and the pixels of a link. SQLite's own table of highest numbers has a row for each
/// table with AUTOINCREMENT, and no index.
fn is_of_no_table(step: &str) -> bool {
    let brought = [
        "CONSTANT ROW",
        "CONSTANT ROWS",
        "VALUES CLAUSE",
        "SCAN moves",
        "SCAN changed",
        "SCAN plans",
        "SCAN places",
        "SCAN sqlite_sequence",
    ];
    brought.iter().any(|end| step.ends_with(end))
}

/// FTS5 returns links in descending order of their numbers (192), so nothing is sorted.
const SEARCH: [&str; 2] =
    ["SCAN link_search VIRTUAL TABLE INDEX 192:M1<", "SEARCH links USING INTEGER PRIMARY KEY (rowid=?)"];

/// One or two rows, which a command of operators reads in full.
const AUTHORITIES: &str = "SCAN certificate_authorities";

/// Rejects plans that scan a table or sort. An automatic index for one statement is as bad, because building it scans a
/// table.
pub(crate) fn assert_frugal(statement: &str, plan: &str) {
    if plan.lines().eq(SEARCH) || plan == AUTHORITIES {
        return;
    }
    let reads_through = plan.lines().any(|step| step.starts_with("SCAN") && !is_of_no_table(step));
    let helps_itself = plan.contains("TEMP B-TREE") || plan.contains("AUTOMATIC");
    let finds = plan.contains("SEARCH")
        || statement.starts_with("INSERT")
        || statement.starts_with("REPLACE")
        || plan.lines().all(|step| step.ends_with("SCAN sqlite_sequence"));
    assert!(finds && !reads_through && !helps_itself, "{statement}\n{plan}");
}
