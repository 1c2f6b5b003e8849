//! Compares exports of clicks with the model (D66).

use std::collections::HashSet;

use serde_json::{Value, json};
use signpost_app::ports::Clock as _;
use signpost_domain::analytics::RecordedKind;

use crate::model::{Asked, DIMENSIONS};
use crate::questions::filters_of;
use crate::scene::Scene;

impl Scene {
    /// An export has each selected click once, in order (D66).
    pub(crate) fn compare_exports(&mut self) {
        let endpoints = self.endpoints();
        let now = self.memory.clock.now().unix_millis();
        // An account may export once a minute, so there is one export, with or without filters.
        let endpoint = self.chance.pick(&endpoints).clone();
        let mut asked = endpoint.question(&mut self.chance, &self.rows, now);
        if asked.filters.is_empty() {
            (asked.first, asked.last) = (self.first_day, now);
        }
        let uri = format!(
            "{}/clicks?start_date={}&end_date={}{}",
            endpoint.path,
            asked.first,
            asked.last,
            filters_of(&asked)
        );
        let text = self.get(&uri);
        let shown: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let mut found: Vec<Value> = shown.iter().map(facts_of).collect();
        let mut expected: Vec<Value> = self.expected_export(&asked);
        let at = |click: &Value| click["at"].as_str().unwrap().to_owned();
        assert!(shown.iter().map(at).collect::<Vec<_>>().is_sorted(), "{uri}");
        let ids: HashSet<&str> = shown.iter().map(|click| click["id"].as_str().unwrap()).collect();
        assert_eq!(ids.len(), shown.len(), "ids are unique: {uri}");
        found.sort_by_key(Value::to_string);
        expected.sort_by_key(Value::to_string);
        assert_eq!(found, expected, "{uri}");
    }

    fn expected_export(&self, asked: &Asked) -> Vec<Value> {
        let rows = self.rows.iter().filter(|row| asked.takes(row) && row.kind != RecordedKind::Widget);
        rows.map(|row| {
            let mut click = json!({
                "at": row.at.to_string(),
                "link_id": row.values[11],
                "kind": row.kind.as_str(),
            });
            for (name, value) in DIMENSIONS.iter().zip(&row.values).take(10) {
                click[name] = json!(value);
            }
            click
        })
        .collect()
    }
}

/// A click of an export without its id and its widget, which clicks do not have.
fn facts_of(click: &Value) -> Value {
    let mut facts = json!({"at": click["at"], "link_id": click["link_id"], "kind": click["kind"]});
    for name in &DIMENSIONS[..10] {
        facts[name] = click[name].clone();
    }
    facts
}
