//! What links of the benchmarks have beside their target.

use serde_json::{Value, json};

/// A feature of a link beside its target. Programs of earlier versions do not know all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LinkFeature {
    /// A start and an end.
    Dated,
    /// It forwards queries.
    Forwarding,
    /// Parameters that it adds to its target.
    Utm,
    /// Twenty rules that fail.
    Ruled,
    /// A rule that shares all visitors between two targets.
    Splitting,
    /// A limit of visits.
    Limited,
    /// A card for link previewers.
    Previewed,
}

impl LinkFeature {
    /// Those that [`crate::edge`] visits.
    pub(super) const AT_FULL_SPEED: [Self; 4] = [Self::Dated, Self::Forwarding, Self::Ruled, Self::Splitting];

    pub(super) const ALL: [Self; 7] = [
        Self::Dated,
        Self::Forwarding,
        Self::Utm,
        Self::Ruled,
        Self::Splitting,
        Self::Limited,
        Self::Previewed,
    ];

    /// Its name in tables.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Dated => "start and end",
            Self::Forwarding => "forwards the query",
            Self::Utm => "`utm`",
            Self::Ruled => "20 failing rules",
            Self::Splitting => "split",
            Self::Limited => "`max_clicks`",
            Self::Previewed => "preview",
        }
    }

    /// Its field in the file that marks a folder with links.
    pub(super) const fn field(self) -> &'static str {
        match self {
            Self::Dated => "has_dates",
            Self::Forwarding => "has_forwarding",
            Self::Utm => "has_utm",
            Self::Ruled => "has_rules",
            Self::Splitting => "has_splits",
            Self::Limited => "has_limits",
            Self::Previewed => "has_previews",
        }
    }

    /// The path of the link with this feature and number.
    pub(super) fn path_of(self, number: u32) -> String {
        let letter = match self {
            Self::Dated => 'd',
            Self::Forwarding => 'q',
            Self::Utm => 't',
            Self::Ruled => 'r',
            // The API has the path /v1.
            Self::Splitting => 'w',
            Self::Limited => 'm',
            Self::Previewed => 'p',
        };
        format!("/{letter}{number}")
    }

    /// What such a link has beside a target.
    pub(super) fn fields(self) -> Value {
        match self {
            Self::Dated => json!({"starts_at": "2020-01-01T00:00:00Z", "expires_at": "2999-12-31T00:00:00Z"}),
            Self::Forwarding => json!({"forward_query": true}),
            Self::Utm => json!({"utm": {"medium": "print", "campaign": "summer"}}),
            Self::Ruled => json!({"rules": failing_rules()}),
            Self::Splitting => json!({"rules": splitting_rules()}),
            Self::Limited => json!({"max_clicks": 1_000_000_000}),
            Self::Previewed => json!({"preview": {
                "title": "Offers of this summer", "description": "All that is new", "image_url": "https://example.com/card.png",
            }}),
        }
    }
}

/// Twenty rules, none of which holds for a visit of the benchmark.
fn failing_rules() -> Value {
    let any_of = |kind: &str, values: &[&str]| json!({"type": kind, "in": values});
    let query =
        |name: &str, value: &str| json!({"type": "query", "name": name, "is": "equals", "value": value});
    let conditions = [
        any_of("device", &["mobile"]),
        any_of("device", &["tablet", "tv"]),
        any_of("os", &["iOS"]),
        any_of("os", &["Android", "Android TV"]),
        any_of("os", &["Windows"]),
        any_of("os", &["Mac OS X"]),
        any_of("browser", &["Chrome", "Edge"]),
        any_of("browser", &["Safari"]),
        any_of("browser", &["Mobile Safari", "Chrome Mobile"]),
        json!({"type": "browser", "in": ["Firefox"], "not": true}),
        query("utm_source", "newsletter"),
        query("utm_medium", "print"),
        query("gclid", "x"),
        json!({"type": "query", "name": "campaign", "is": "present"}),
        any_of("referrer", &["example.org", "example.net"]),
        any_of("referrer", &["news.example.com"]),
        any_of("network", &["192.0.2.0/24", "2001:db8::/32"]),
        any_of("network", &["198.51.100.0/24"]),
        json!({"type": "date", "until": "2020-01-01T00:00:00Z"}),
        any_of("language", &["de", "fr", "pt-BR"]),
    ];
    conditions
        .into_iter()
        .map(|condition| json!({"conditions": [condition], "target_url": "https://example.com/never"}))
        .collect()
}

/// A rule that shares all visitors between two targets.
fn splitting_rules() -> Value {
    let variant = |name: &str| {
        let target = format!("https://example.com/shop/variant/{name}/offers");
        json!({"name": name, "target_url": target, "weight": 1})
    };
    json!([{"name": "test", "conditions": [], "split": [variant("a"), variant("b")]}])
}
