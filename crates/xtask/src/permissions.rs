//! A use case asks its caller for one permission before it does anything else.
//!
//! A use case is a public function of `app` with a `Caller` among its parameters. The permission must fit what the function
//! does: one that attempts a unit of work, itself or by a function of its file, that acts as the owner of the account, or that takes or passes
//! on an `Idempotency`, writes. Functions are found by their text, as rustfmt writes them.

use std::collections::BTreeSet;

use crate::finding::Finding;

/// The use cases.
const SOURCES: &str = "crates/app/src/";

/// What reading and writing asks for in the files whose path begins so; the first that fits.
const AREAS: [Area; 8] = [
    Area { beginning: "accounts", reads: "Read", writes: "ManageAccount" },
    Area { beginning: "analytics", reads: "ReadAnalytics", writes: "ReadAnalytics" },
    Area { beginning: "audit", reads: "ReadAudit", writes: "ReadAudit" },
    Area { beginning: "people/members", reads: "Read", writes: "ManageMembers" },
    Area { beginning: "people", reads: "Read", writes: "ManageKeys" },
    // An explanation is remembered for its idempotency key, and changes nothing else.
    Area { beginning: "explain", reads: "Read", writes: "Read" },
    Area { beginning: "domains", reads: "Read", writes: "WriteDomains" },
    Area { beginning: "", reads: "Read", writes: "WriteLinks" },
];

/// Functions that ask for nothing, by file and name.
const EXCEPTIONS: [(&str, &str); 3] = [
    // These make the caller.
    ("admission/enter.rs", "enter"),
    ("admission/enter_named.rs", "enter_named"),
    // Shows the account what a use case, which asked, has answered it before.
    ("idempotency.rs", "recall"),
];

struct Area {
    beginning: &'static str,
    reads: &'static str,
    writes: &'static str,
}

struct Function<'a> {
    name: &'a str,
    is_public: bool,
    /// The place of the first line, from 1.
    line: usize,
    signature: String,
    body: Vec<&'a str>,
}

/// Checks the use cases in a file.
#[must_use]
pub fn check(path: &str, text: &str) -> Vec<Finding> {
    let Some(file) = path.strip_prefix(SOURCES) else { return Vec::new() };
    let functions = functions(text);
    let use_cases = functions.iter().filter(|function| {
        function.is_public
            && has_word(&function.signature, "Caller")
            && !EXCEPTIONS.contains(&(file, function.name))
    });
    use_cases
        .filter_map(|function| {
            let mistake = mistake(file, function, &functions)?;
            Some(Finding::in_line(path, function.line, format!("`{}` {mistake}", function.name)))
        })
        .collect()
}

/// What is wrong with the permission that a use case asks for.
fn mistake(file: &str, function: &Function<'_>, functions: &[Function<'_>]) -> Option<String> {
    let Some(asked) = function.body.first().and_then(|statement| asked(statement)) else {
        return Some("does not ask its caller for a permission first".to_owned());
    };
    if function.body.iter().filter(|line| line.contains(".require(")).count() > 1 {
        return Some("asks its caller for several permissions".to_owned());
    }
    let area = AREAS.iter().find(|area| file.starts_with(area.beginning))?;
    let (does, fitting) =
        if writes(function, functions) { ("writes", area.writes) } else { ("reads", area.reads) };
    (asked != fitting).then(|| format!("{does}, so it asks for `{fitting}`, not for `{asked}`"))
}

/// The permission in a statement that asks the caller for it.
fn asked(statement: &str) -> Option<&str> {
    statement.trim().strip_prefix("caller.require(Permission::")?.strip_suffix(")?;")
}

/// Whether a function attempts a unit of work, itself or by a function of its file.
fn writes(function: &Function<'_>, functions: &[Function<'_>]) -> bool {
    let mut seen = BTreeSet::new();
    let mut called = vec![function];
    while let Some(next) = called.pop() {
        if !seen.insert(next.line) {
            continue;
        }
        let begins = |line: &&str| {
            [".begin()", "Attempts::at(", "Idempotency::", "Operator::owner("]
                .iter()
                .any(|word| line.contains(word))
        };
        if has_word(&next.signature, "Idempotency") || next.body.iter().any(begins) {
            return true;
        }
        called.extend(functions.iter().filter(|other| {
            let calls = [format!("{}(", other.name), format!("{}::<", other.name)];
            calls.iter().any(|call| next.body.iter().any(|line| begins_word(line, call)))
        }));
    }
    false
}

fn functions(text: &str) -> Vec<Function<'_>> {
    let lines: Vec<&str> = text.lines().collect();
    let mut functions = Vec::new();
    for (place, line) in lines.iter().enumerate() {
        let declaration = line.trim_start();
        let Some((qualifiers, rest)) = declaration.split_once("fn ") else { continue };
        let is_declaration = qualifiers
            .split_whitespace()
            .all(|word| ["async", "const"].contains(&word) || word == "pub" || word.starts_with("pub("));
        let name = rest.split(['(', '<']).next().unwrap_or_default();
        if !is_declaration || name.is_empty() {
            continue;
        }
        let indent = line.len() - declaration.len();
        let end = format!("{}}}", " ".repeat(indent));
        let rest = lines.get(place..).unwrap_or_default();
        // A function of a trait without a body ends in a semicolon.
        let Some(opening) = rest.iter().position(|line| line.ends_with('{') || line.ends_with(';')) else {
            continue;
        };
        let (signature, body) = rest.split_at(opening + 1);
        let body = if signature.last().is_some_and(|line| line.ends_with('{')) {
            body.iter().copied().take_while(|line| *line != end).collect()
        } else {
            Vec::new()
        };
        let is_public = qualifiers.split_whitespace().next() == Some("pub");
        functions.push(Function { name, is_public, line: place + 1, signature: signature.concat(), body });
    }
    functions
}

/// Whether the text has this word, not as a part of another.
fn has_word(text: &str, word: &str) -> bool {
    text.split(|character: char| !character.is_alphanumeric() && character != '_').any(|part| part == word)
}

/// Whether a word of the text begins so.
fn begins_word(text: &str, beginning: &str) -> bool {
    text.match_indices(beginning).any(|(place, _)| {
        let before = text.get(..place).and_then(|text| text.chars().next_back());
        before.is_none_or(|character| !character.is_alphanumeric() && !['_', '.'].contains(&character))
    })
}

#[cfg(test)]
mod tests {
    use super::check;

    fn reported(file: &str, source: &str) -> Vec<String> {
        check(&format!("crates/app/src/{file}"), source).iter().map(ToString::to_string).collect()
    }

    /// A use case on several lines with this first statement, and this rest.
    fn use_case(first: &str, rest: &str) -> String {
        format!(
            "/// Docs.\npub async fn list(\n    app: &Application,\n    caller: &Caller,\n) -> Result<(), AppError> {{\n    \
             {first}\n    {rest}\n}}\n"
        )
    }

    const READ: &str = "caller.require(Permission::Read)?;";
    const WRITE_LINKS: &str = "caller.require(Permission::WriteLinks)?;";

    #[test]
    fn a_use_case_asks_first() {
        assert_eq!(reported("badges.rs", &use_case(READ, "Ok(())")), [""; 0]);
        for (first, rest) in [("Ok(())", ""), ("let a = 1;", READ), ("// First.", READ)] {
            assert_eq!(
                reported("badges.rs", &use_case(first, rest)),
                ["crates/app/src/badges.rs:2: `list` does not ask its caller for a permission first"]
            );
        }
        let twice = use_case(READ, WRITE_LINKS);
        assert_eq!(
            reported("badges.rs", &twice),
            ["crates/app/src/badges.rs:2: `list` asks its caller for several permissions"]
        );
    }

    #[test]
    fn every_public_function_with_a_caller_is_a_use_case() {
        let signatures = [
            "pub fn a(caller: &Caller) {",
            "    pub async fn a<K: Kind>(caller: Caller) -> Result<(), AppError> {",
            "pub async fn a<'a, C>(who: &'a Caller) -> u8\nwhere\n    C: Clone,\n{",
        ];
        for signature in signatures {
            let found = reported("badges.rs", &format!("{signature}\n    0\n}}\n"));
            assert_eq!(found.len(), 1, "{signature}: {found:?}");
        }
        let others = [
            "pub(crate) fn a(caller: &Caller) {",
            "fn a(caller: &Caller) {",
            "pub fn a(waiting: &WaitingCaller) {",
            "// A fn a(caller: &Caller) {",
        ];
        for signature in others {
            assert_eq!(reported("badges.rs", &format!("{signature}\n    0\n}}\n")), [""; 0], "{signature}");
        }
        assert_eq!(check("crates/http/src/a.rs", "pub fn a(caller: &Caller) {\n}\n"), []);
        let recall = "pub async fn recall(caller: &Caller) {\n    0\n}\n";
        assert_eq!(reported("idempotency.rs", recall), [""; 0]);
        assert_eq!(reported("badges.rs", recall).len(), 1);
    }

    #[test]
    fn the_permission_fits_what_the_use_case_does() {
        let by_itself = "let mut work = attempts.begin().await?;";
        let helper = "async fn moved() {\n    inner().await\n}\nfn inner() {\n    a.begin();\n}\n";
        for rest in [by_itself, "let attempts = Attempts::at(app);", "moved().await"] {
            let source = |first| format!("{}{helper}", use_case(first, rest));
            assert_eq!(reported("badges.rs", &source(WRITE_LINKS)), [""; 0]);
            assert_eq!(
                reported("badges.rs", &source(READ)),
                ["crates/app/src/badges.rs:2: `list` writes, so it asks for `WriteLinks`, not for `Read`"]
            );
            assert_eq!(
                reported("domains/connect.rs", &source(WRITE_LINKS)),
                [
                    "crates/app/src/domains/connect.rs:2: `list` writes, so it asks for `WriteDomains`, not for \
                 `WriteLinks`"
                ]
            );
        }
        // A method, or a longer name, is another function.
        let source = format!("{}{helper}", use_case(READ, "app.moved().await; unmoved().await"));
        assert_eq!(reported("badges.rs", &source), [""; 0]);
        let keyed = "pub async fn a(caller: &Caller, key: Idempotency<'_, A>) {\n    \
                     caller.require(Permission::Read)?;\n}\n";
        assert_eq!(reported("badges.rs", keyed).len(), 1);
        assert_eq!(
            reported("analytics/questions.rs", &use_case(READ, "")),
            [
                "crates/app/src/analytics/questions.rs:2: `list` reads, so it asks for `ReadAnalytics`, not for `Read`"
            ]
        );
    }
}
