//! The findings in the program's log of a run.

use serde_json::Value;

/// Every line that shows a defect: errors and panics, answers with a status of 500 or more, and lines that are not log
/// lines. `text` is a log in the format `json`.
pub(super) fn findings(text: &str) -> Vec<&str> {
    text.lines().filter(|line| shows_a_defect(line)).collect()
}

fn shows_a_defect(line: &str) -> bool {
    let Ok(entry) = serde_json::from_str::<Value>(line) else { return true };
    let level = entry.get("level").and_then(Value::as_str);
    let status = entry.get("status").and_then(Value::as_u64);
    !matches!(level, Some("WARN" | "INFO" | "DEBUG" | "TRACE")) || status.is_some_and(|status| status >= 500)
}

#[cfg(test)]
mod tests {
    use super::findings;

    #[test]
    fn errors_panics_and_statuses_from_500_are_found() {
        let mistakes = [
            r#"{"level":"ERROR","message":"panic","location":"a.rs:1"}"#,
            r#"{"level":"ERROR","message":"the store broke"}"#,
            r#"{"level":"INFO","message":"answered","status":500}"#,
            r#"{"level":"INFO","message":"answered","status":503}"#,
            "thread 'main' panicked at a.rs:1",
            r#"{"message":"answered","status":200}"#,
            "[]",
        ];
        let innocent = [
            r#"{"level":"INFO","message":"answered","status":200}"#,
            r#"{"level":"INFO","message":"answered","status":499}"#,
            r#"{"level":"WARN","message":"stopped; some running work was cut short"}"#,
            r#"{"level":"INFO","message":"a panic is a word"}"#,
        ];
        assert_eq!(findings(&mistakes.join("\n")), mistakes);
        assert!(findings(&innocent.join("\n")).is_empty());
        assert!(findings("").is_empty());
    }
}
