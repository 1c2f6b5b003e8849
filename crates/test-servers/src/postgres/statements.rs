//! Reading statements from a server's log.

/// The statements of one database. The lines of the log have the prefix `%d`.
pub(super) fn of_database(log: &str, name: &str) -> Vec<String> {
    let mark = format!("] {name} LOG:  ");
    let mut statements: Vec<String> = Vec::new();
    let mut is_within = false;
    for line in log.lines() {
        // Continuation lines of a statement start with a tab.
        if let Some(more) = line.strip_prefix('\t') {
            if let (true, Some(last)) = (is_within, statements.last_mut()) {
                last.push('\n');
                last.push_str(more);
            }
            continue;
        }
        let statement = line.split_once(&mark).and_then(|(_, message)| statement(message));
        is_within = statement.is_some();
        statements.extend(statement.map(str::to_owned));
    }
    statements
}

/// The text after `statement: `, or after `execute` and the name of a prepared statement.
fn statement(message: &str) -> Option<&str> {
    message
        .strip_prefix("statement: ")
        .or_else(|| message.strip_prefix("execute ")?.split_once(": ").map(|(_, statement)| statement))
}

#[cfg(test)]
mod tests {
    use super::of_database;

    #[test]
    fn statements_of_a_database_have_no_parameters() {
        let log = "2026-01-01 00:00:00.000 UTC [7] test_1 LOG:  statement: BEGIN\n\
            2026-01-01 00:00:00.000 UTC [8] test_10 LOG:  statement: SELECT 1\n\
            2026-01-01 00:00:00.000 UTC [7] test_1 LOG:  execute s0: SELECT a: b\n\
            \tFROM t\n\
            2026-01-01 00:00:00.000 UTC [7] test_1 DETAIL:  parameters: $1 = '] test_1 LOG:\n\
            \tx'\n\
            2026-01-01 00:00:00.000 UTC [9]  LOG:  checkpoint starting: time\n\
            2026-01-01 00:00:00.000 UTC [7] test_1 ERROR:  no\n\
            2026-01-01 00:00:00.000 UTC [7] test_1 LOG:  execute <unnamed>: COMMIT\n";
        assert_eq!(of_database(log, "test_1"), ["BEGIN", "SELECT a: b\nFROM t", "COMMIT"]);
    }
}
