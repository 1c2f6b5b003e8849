//! Rules of redirects: which visitors are sent elsewhere than to the target (D133), and how a rule splits them (D134).

use serde_json::{Value, json};
use signpost_domain::routing::{
    Rule, RuleDraft, RuleName, RuleTarget, Rules, RulesRequest, Split, Variant, Weight, read_rules,
};
use signpost_domain::{RuleId, TargetUrl, Violations};
use signpost_strict_json::Json;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, SchemaFormat};

use super::rule_conditions::{self, ConditionBody};
use crate::extract::{Action, Field, ObjectReader, field};
use crate::schema::{
    Components, Property, always, boolean as boolean_schema, closed_object, id, integer as integer_schema,
    list, matching, maybe, named, open_object, or_null, shown, string, target_url_pattern, web_url_shown,
};
use crate::wire::Text;

/// A rule's id.
const EXAMPLE_ID: &str = "rul_019b5a3e11aa7c3e8899aabbccddeeff";

shown! {
    /// A rule in an answer.
    pub(super) struct RuleBody {
        id: Text<RuleId> = id(EXAMPLE_ID, "The rule's id. Analytics shows it if the rule has no name."),
        name: Option<String> = name_schema("The rule's name in analytics. Null: it has none."),
        conditions: Vec<ConditionBody> = list("What must all hold. Empty: it holds for every visitor.", named("Condition"))
            .max_items(Some(Rule::MAX_CONDITIONS)),
        target_url: Option<String> =
            web_url_shown("Where visitors are sent, exactly as it was sent. Null if `split` says it."),
        split: Option<Vec<VariantBody>> = split_schema("The targets between which visitors are split. Null if there is one.", "Variant"),
    }
}

shown! {
    /// A target of a split in an answer.
    pub(super) struct VariantBody {
        name: String = name_schema("The variant's name in analytics."),
        target_url: String = web_url_shown("Where its visitors are sent, exactly as it was sent."),
        weight: u32 = weight_schema(),
    }
}

impl RuleBody {
    /// The rules of a redirect, in their order.
    pub(super) fn all(rules: &Rules) -> Vec<Self> {
        rules.as_slice().iter().map(Self::from).collect()
    }
}

impl From<&Rule> for RuleBody {
    fn from(rule: &Rule) -> Self {
        let Rule { id, name, conditions, leads_to } = rule;
        let (target_url, split) = match leads_to {
            RuleTarget::Target(url) => (Some(url.as_str().to_owned()), None),
            RuleTarget::Split(split) => {
                (None, Some(split.as_slice().iter().map(VariantBody::from).collect()))
            }
        };
        Self {
            id: Text(*id),
            name: name.as_ref().map(|name| name.as_str().to_owned()),
            conditions: conditions.iter().map(ConditionBody::from).collect(),
            target_url,
            split,
        }
    }
}

impl From<&Variant> for VariantBody {
    fn from(variant: &Variant) -> Self {
        let Variant { name, target_url, weight } = variant;
        Self {
            name: name.as_str().to_owned(),
            target_url: target_url.as_str().to_owned(),
            weight: weight.get().into(),
        }
    }
}

/// `rules` in an answer.
pub(super) fn rules_shown() -> ArrayBuilder {
    let description = "The rules, in the order in which they are tried: the first whose conditions all hold decides where a visitor is \
                       sent. If none does, `final_url` does.";
    list(description, named("Rule")).max_items(Some(Rules::MAX))
}

/// `has_rules` in an answer.
pub(super) fn has_rules_shown() -> ObjectBuilder {
    boolean_schema(
        "Whether it has rules, which send some visitors elsewhere. Answers about one redirect show them as `rules`.",
    )
}

/// Reads the field.
pub(super) fn read(body: &mut ObjectReader<'_>, action: Action) -> RulesRequest {
    RulesRequest { list: body.nullable(rules(action)), ..RulesRequest::default() }
}

fn rules(action: Action) -> impl Field<Vec<Option<RuleDraft>>> {
    let read = |value: &Json, path: &str, violations: &mut Violations| {
        read_rules(&to_value(value), path, violations)
    };
    field(Rules::FIELD, read, move || {
        let of_null = match action {
            Action::Create => "Left out or null: none.",
            Action::Put => "They replace all that it has; null or `[]`: none.",
            Action::Update => "They replace all that it has; null or `[]` removes them.",
        };
        let description = format!(
            "Rules, tried in this order for each visit: the first whose conditions all hold decides where the visitor is sent. If none \
             does, `target_url` does. All their names, targets and values together have at most 64 KiB. Rules that the redirect does not have yet need the feature \
             `routing`. {of_null}"
        );
        list(&description, named("RuleInput")).max_items(Some(Rules::MAX))
    })
}

/// The value for the reader of the domain, which files of links share. A number that is no integer of 64 bits stays one.
fn to_value(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Bool(*flag),
        Json::Number(number) => number.map_or_else(|| Value::from(0.5), Value::from),
        Json::Text(text) => Value::String(text.clone()),
        Json::List(items) => items.iter().map(to_value).collect(),
        Json::Object(members) => {
            Value::Object(members.iter().map(|(name, value)| (name.clone(), to_value(value))).collect())
        }
    }
}

/// The fields of a rule in a request.
fn rule() -> Vec<Property> {
    let of_id = string(
        "The id of an existing rule of this redirect, which keeps it. Any other string is ignored. Left out: a rule that the redirect \
         has with this name keeps its id, or without a name one with the same content.",
    );
    let of_name = "The rule's name in analytics, which no other rule of the redirect has. Left out or null: none, and analytics shows its id.";
    let of_conditions = list(
        "What must all hold. Only the last rule may have none, and then holds for every visitor.",
        named("ConditionInput"),
    );
    let of_target = "Where visitors are sent, by the rules of a redirect's `target_url`. Left out or null: `split` says it.";
    let of_split = "The targets between which visitors are split, by their addresses and user agents: a visitor gets the same variant each \
                    time. Left out or null: `target_url` says where they are sent.";
    vec![
        maybe("id", of_id),
        maybe("name", or_null(name(of_name).into())),
        always("conditions", of_conditions.max_items(Some(Rule::MAX_CONDITIONS))),
        maybe("target_url", or_null(target_url(of_target).into())),
        maybe("split", or_null(split_schema(of_split, "VariantInput").into())),
    ]
}

/// The fields of a variant in a request.
fn variant() -> Vec<Property> {
    vec![
        always("name", name("The variant's name in analytics, which no other variant of the rule has.")),
        always(
            "target_url",
            target_url("Where its visitors are sent, by the rules of a redirect's `target_url`."),
        ),
        always("weight", weight_schema()),
    ]
}

fn name(description: &str) -> ObjectBuilder {
    name_schema(&format!(
        "{description} 1 to {} lower-case letters, digits, `-` and `_`.",
        RuleName::MAX_CHARS
    ))
    .pattern(Some("^[a-z0-9_-]{1,32}$"))
}

fn target_url(description: &str) -> ObjectBuilder {
    matching(string(description), target_url_pattern())
        .format(Some(SchemaFormat::Custom("http-url".to_owned())))
        .max_length(Some(TargetUrl::MAX_CHARS))
        .examples(["https://example.com/de"])
}

fn name_schema(description: &str) -> ObjectBuilder {
    string(description).min_length(Some(1)).max_length(Some(RuleName::MAX_CHARS)).examples(["german"])
}

fn split_schema(description: &str, item: &str) -> ArrayBuilder {
    list(description, named(item)).min_items(Some(Split::MIN)).max_items(Some(Split::MAX))
}

fn weight_schema() -> ObjectBuilder {
    integer_schema()
        .minimum(Some(Weight::MIN))
        .maximum(Some(Weight::MAX))
        .description(Some("Its share of the visitors, in proportion to the sum of all weights of the split."))
        .examples([1])
}

/// The components of the OpenAPI document.
pub(super) fn components() -> Components {
    let about = "A rule of a redirect: conditions, and where visitors are sent for whom all hold.";
    let about_variant = "One of the targets between which a rule splits its visitors.";
    let mut components = rule_conditions::components();
    components.extend([
        ("Rule", open_object(about, RuleBody::properties()).into()),
        ("RuleInput", closed_object(about, rule()).into()),
        ("Variant", open_object(about_variant, VariantBody::properties()).into()),
        ("VariantInput", closed_object(about_variant, variant()).into()),
    ]);
    components
}

/// The rules of examples, as they are sent.
pub(super) fn example_sent() -> Value {
    json!([
        {
            "name": "german",
            "conditions": [
                {"type": "country", "in": ["DE", "AT"]},
                {"type": "os", "in": ["iOS"], "not": true},
            ],
            "target_url": "https://example.com/de",
        },
        {
            "name": "try",
            "conditions": [],
            "split": [
                {"name": "old", "target_url": "https://example.com/autumn", "weight": 9},
                {"name": "new", "target_url": "https://example.com/autumn-2", "weight": 1},
            ],
        },
    ])
}

/// A rule of examples, as it is shown.
pub(super) fn example_shown() -> Value {
    json!([{
        "id": EXAMPLE_ID,
        "name": "german",
        "conditions": [
            {"type": "country", "in": ["DE", "AT"], "not": false},
            {"type": "os", "in": ["iOS"], "not": true},
        ],
        "target_url": "https://example.com/de",
        "split": null,
    }])
}
