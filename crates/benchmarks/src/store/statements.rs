//! The statements that the program sends to PostgreSQL, read from the server's log and turned into a script for `pgbench`.
//! So the reference always runs the program's current statements.

use anyhow::{Context as _, Result, ensure};

use crate::pgbench::Script;
use crate::postgres::Postgres;

/// A statement of the program, and its parameters as PostgreSQL logs them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Statement {
    text: String,
    values: Vec<Option<String>>,
}

impl Statement {
    /// Whether it uses a table.
    pub(crate) fn names(&self, table: &str) -> bool {
        self.text
            .split(|character: char| !character.is_alphanumeric() && character != '_')
            .any(|word| word == table)
    }

    /// Whether it reads rows of a table.
    pub(super) fn reads(&self, table: &str) -> bool {
        [format!("FROM \"{table}\""), format!("FROM {table}")].iter().any(|from| self.text.contains(from))
    }
}

/// The program's `application_name`, followed by the separator of the log prefix.
const APPLICATION: &str = "signpost|";

/// The statements that the program sends for `request`.
pub(crate) fn sent_during(
    postgres: &Postgres,
    request: impl FnOnce() -> Result<()>,
) -> Result<Vec<Statement>> {
    let log = |what: &str| {
        // Connections apply the setting at their next statement, so wait until the server has read it.
        let sql = format!(
            "ALTER SYSTEM SET log_statement = '{what}';\nSELECT pg_reload_conf();\nSELECT pg_sleep(0.3);"
        );
        postgres.query(&sql)
    };
    log("all")?;
    let before = postgres.log()?.len();
    request()?;
    log("none")?;
    let log = postgres.log()?;
    let statements = read(log.get(before..).unwrap_or_default());
    ensure!(!statements.is_empty(), "the log has no statements of the program");
    Ok(statements)
}

/// The tables of the program's background work. Statements on them do not belong to a request.
const BACKGROUND_TABLES: [&str; 5] =
    ["search_changes", "search_segments", "search_states", "leases", "node_reports"];

fn read(log: &str) -> Vec<Statement> {
    let mut statements: Vec<(&str, Statement)> = Vec::new();
    for line in log.lines() {
        if let Some((connection, rest)) = line.strip_prefix(APPLICATION).and_then(|rest| rest.split_once('|'))
        {
            let execute = rest.strip_prefix("LOG:  execute ").and_then(|rest| rest.split_once(": "));
            let simple = rest.strip_prefix("LOG:  statement: ");
            if let Some(text) = execute.map(|(_, text)| text).or(simple) {
                statements.push((connection, Statement { text: text.to_owned(), values: Vec::new() }));
            } else if let Some(parameters) = rest.strip_prefix("DETAIL:  parameters: ")
                && let Some((_, statement)) = statements.iter_mut().rfind(|(sender, _)| *sender == connection)
            {
                statement.values = values(parameters);
            }
        } else if let (Some(more), Some((_, statement))) = (line.strip_prefix('\t'), statements.last_mut()) {
            statement.text.push('\n');
            statement.text.push_str(more);
        }
    }
    let is_own = |statement: &Statement| BACKGROUND_TABLES.iter().any(|table| statement.names(table));
    let by_itself: Vec<&str> = statements
        .iter()
        .filter(|(_, statement)| is_own(statement))
        .map(|(connection, _)| *connection)
        .collect();
    statements
        .into_iter()
        .filter(|(connection, _)| !by_itself.contains(connection))
        .map(|(_, statement)| statement)
        .collect()
}

/// Parses `$1 = 'a''b', $2 = NULL`.
fn values(mut parameters: &str) -> Vec<Option<String>> {
    let mut values = Vec::new();
    while let Some((_, rest)) = parameters.split_once(" = ") {
        if let Some(rest) = rest.strip_prefix('\'') {
            let mut value = String::new();
            let mut characters = rest.char_indices().peekable();
            let mut end = rest.len();
            while let Some((at, character)) = characters.next() {
                if character != '\'' {
                    value.push(character);
                } else if characters.next_if(|&(_, next)| next == '\'').is_some() {
                    value.push('\'');
                } else {
                    end = at + 1;
                    break;
                }
            }
            values.push(Some(value));
            parameters = rest.get(end..).unwrap_or_default();
        } else {
            values.push(None);
            parameters = rest;
        }
    }
    values
}

/// Makes a script of statements. Values that `vary` recognizes become its expressions; all others are bound unchanged.
/// `pgbench` sends values without types, but `unnest` needs types. There they are the types of the columns of `links` with
/// the same names.
pub(super) fn script(
    postgres: &Postgres,
    statements: &[Statement],
    vary: impl Fn(&str) -> Option<String>,
) -> Result<Script> {
    let mut script = Script::default();
    for (position, Statement { text, values }) in statements.iter().enumerate() {
        let mut text = text.clone();
        let types = types_of_arrays(postgres, &text)?;
        // Replace the last parameter first, so that `$1` does not match the start of `$12`.
        for (index, value) in values.iter().enumerate().rev() {
            let parameter = format!("${}", index + 1);
            let cast = types.iter().find(|(name, _)| *name == parameter);
            let cast = cast.map(|(_, name)| format!("::{name}[]")).unwrap_or_default();
            let shown = match value {
                None => "NULL".to_owned(),
                // A variable of `pgbench` cannot be empty.
                Some(value) if value.is_empty() => "''".to_owned(),
                Some(value) => varied(value, &vary).unwrap_or_else(|| {
                    let name = format!("s{position}_{index}");
                    script.variables.push((name.clone(), value.clone()));
                    format!(":{name}")
                }),
            };
            text = text.replace(&parameter, &(shown + &cast));
        }
        script.sql.push_str(&text);
        script.sql.push_str(";\n");
    }
    Ok(script)
}

/// The expression for a value, or for the only element of an array.
fn varied(value: &str, vary: impl Fn(&str) -> Option<String>) -> Option<String> {
    let one = value.strip_prefix('{').and_then(|value| value.strip_suffix('}'));
    vary(value).or_else(|| Some(format!("ARRAY[{}]", vary(one?.trim_matches('"'))?)))
}

/// The parameters of every `unnest(…) AS n (…)`, and the types of their elements.
fn types_of_arrays(postgres: &Postgres, text: &str) -> Result<Vec<(String, String)>> {
    let arrays = arrays(text)?;
    if arrays.is_empty() {
        return Ok(Vec::new());
    }
    let types = postgres.query(
        "SELECT attname || ' ' || format_type(atttypid, NULL) FROM pg_attribute WHERE attrelid = 'links'::regclass",
    )?;
    let type_of = |column: &str| {
        let found = types.lines().find_map(|line| line.strip_prefix(column)?.strip_prefix(' '));
        match found {
            // `unnest` flattens arrays of arrays into single values, so they are passed as texts.
            Some(name) if name.ends_with("[]") => "text".to_owned(),
            found => found.unwrap_or("bigint").to_owned(),
        }
    };
    Ok(arrays.into_iter().map(|(parameter, column)| (parameter.to_owned(), type_of(column))).collect())
}

/// The parameters of every `unnest(…) AS n (…)`, each with the column name of its elements.
fn arrays(text: &str) -> Result<Vec<(&str, &str)>> {
    let mut arrays = Vec::new();
    for rest in text.split("unnest(").skip(1) {
        let (parameters, rest) = rest.split_once(')').context("an `unnest` is not closed")?;
        let (_, rest) = rest.split_once('(').context("an `unnest` without names")?;
        let (columns, _) = rest.split_once(')').context("a list of names is not closed")?;
        arrays.extend(parameters.split(',').map(str::trim).zip(columns.split(',').map(str::trim)));
    }
    Ok(arrays)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_matched_by_whole_names() {
        let statement = |text: &str| Statement { text: text.to_owned(), values: Vec::new() };
        assert!(statement("SELECT 1 FROM \"links\" JOIN wanted").names("links"));
        assert!(statement("SELECT links.id FROM wanted JOIN links").names("links"));
        assert!(!statement("SELECT links_count FROM link_search").names("links"));
    }

    #[test]
    fn statements_are_parsed_with_their_values() {
        let log = "psql|1|LOG:  statement: SELECT 1\n\
                   signpost|3|LOG:  statement: BEGIN\n\
                   signpost|2|LOG:  execute s3: SELECT a = $1,\n\t b\n\
                   signpost|3|LOG:  execute s4: SELECT FROM search_changes WHERE account_id = $1\n\
                   signpost|2|DETAIL:  parameters: $1 = 'it''s, $2 = ', $2 = NULL, $3 = ''\n\
                   signpost|3|DETAIL:  parameters: $1 = '7'\n\
                   signpost|2|LOG:  statement: COMMIT\n";
        let values = [Some("it's, $2 = "), None, Some("")].map(|value| value.map(str::to_owned));
        let text = "SELECT a = $1,\n b".to_owned();
        let commit = Statement { text: "COMMIT".to_owned(), values: vec![] };
        assert_eq!(read(log), [Statement { text, values: values.to_vec() }, commit]);
    }

    #[test]
    fn every_array_of_a_statement_is_found() {
        let text = "UPDATE g FROM unnest($1, $2) AS m (id, more) WHERE f(x); INSERT SELECT FROM unnest($3) AS n (name)";
        assert_eq!(arrays(text).unwrap(), [("$1", "id"), ("$2", "more"), ("$3", "name")]);
        assert!(arrays("SELECT 1").unwrap().is_empty());
    }

    #[test]
    fn a_varying_value_may_be_in_an_array() {
        let vary = |value: &str| (value == "x").then(|| "f(:n)".to_owned());
        assert_eq!(varied("x", vary).unwrap(), "f(:n)");
        assert_eq!(varied("{x}", vary).unwrap(), "ARRAY[f(:n)]");
        assert_eq!(varied("{x,y}", vary), None);
    }
}
