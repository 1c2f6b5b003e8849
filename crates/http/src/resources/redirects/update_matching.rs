//! Redirects changed by a filter: `/v1/redirects/update-matching` (D124).

use actix_web::{HttpResponse, web};
use serde_json::{Value, json};
use signpost_app::links::MatchingUpdate;
use signpost_app::{Application, links};
use signpost_domain::{ErrorCode, Redirect, RedirectId, Rejection};
use signpost_strict_json::Json;
use utoipa::openapi::schema::ObjectBuilder;

use super::RedirectBody;
use super::matching_request::{self, Sent};
use crate::api_error::ApiError;
use crate::bulk_outcome::{item_error, text_at_fault};
use crate::cursor::{CursorScope, MOST_CHARACTERS};
use crate::endpoint::RouteMethod;
use crate::extract::{Admitted, OnlyBody, run_once};
use crate::openapi::operation::{Endpoint, body, ok};
use crate::schema::{
    CURSOR, Components, boolean, count, examples, id, kind, list, matching, named, open_object, shown, string,
};
use crate::wire::{self, ItemError, Text};

const PATH: &str = "/v1/redirects/update-matching";

/// `POST /v1/redirects/update-matching`.
async fn update_matching(
    app: web::Data<Application>,
    caller: Admitted,
    mut body: OnlyBody,
) -> Result<HttpResponse, ApiError> {
    let key = body.key(&app, &caller).await?;
    let (mut body, mut violations) = body.reader()?;
    let sent = Sent::read(&mut body);
    violations.append(body.finish());
    let (request, scope) = sent.into_request(caller.account_id(), violations)?;
    let show = |outcome: &MatchingUpdate| wire::ok(&MatchingUpdateBody::new(outcome, &scope, &app));
    run_once(key.as_ref(), show, |idempotency| links::update_matching(&app, &caller, request, idempotency))
        .await
}

shown! {
    /// The answer.
    struct MatchingUpdateBody {
        object: &'static str = kind("matching_update_result"),
        dry_run: bool = boolean("Whether nothing was written."),
        matched_count: usize = count("How many redirects matched. Each was updated, unchanged, or failed."),
        updated_count: usize = count("How many redirects were updated; in a dry run, would be."),
        unchanged_count: usize = count("How many redirects are already as the patch makes them."),
        failed: Vec<FailedLink> =
            list("The first redirects that failed, newest first. They stay as they are.", named("FailedRedirect"))
                .max_items(Some(100)),
        failed_more: usize = count("How many more redirects failed."),
        /// Only a dry run has them.
        #[serde(skip_serializing_if = "Option::is_none")]
        examples (maybe): Option<Vec<ChangedLink>> =
            list("The first redirects that a dry run would update, as lists show them; a run has none.", named("ChangedRedirect"))
                .max_items(Some(10)),
        next_cursor: Option<String> = next_cursor(),
    }
}

shown! {
    /// A redirect that failed.
    struct FailedLink {
        id: Text<RedirectId> = id(examples::REDIRECT_ID, "The redirect's id."),
        error: ItemError = named("BulkItemError"),
    }
}

shown! {
    /// A redirect that a dry run would update.
    struct ChangedLink {
        before: RedirectBody = named("Redirect"),
        after: RedirectBody = named("Redirect"),
    }
}

fn next_cursor() -> ObjectBuilder {
    let description =
        "Where more redirects may match: send this back unchanged as `cursor`. Null after the last one.";
    matching(string(description), CURSOR).max_length(usize::try_from(MOST_CHARACTERS).ok())
}

impl MatchingUpdateBody {
    fn new(outcome: &MatchingUpdate, scope: &CursorScope, app: &Application) -> Self {
        let now = app.clock.now();
        let shown = |redirect: &Redirect| RedirectBody::new(redirect, &redirect.content, app, now);
        let examples = outcome.examples.iter();
        let examples =
            examples.map(|(before, after)| ChangedLink { before: shown(before), after: shown(after) });
        Self {
            object: "matching_update_result",
            dry_run: outcome.is_dry_run,
            matched_count: outcome.matched(),
            updated_count: outcome.updated,
            unchanged_count: outcome.unchanged,
            failed: outcome.failed.iter().map(|(id, rejection)| FailedLink::new(*id, rejection)).collect(),
            failed_more: outcome.failed_more,
            examples: outcome.is_dry_run.then(|| examples.collect()),
            next_cursor: outcome.next.map(|position| scope.seal(position)),
        }
    }
}

impl FailedLink {
    fn new(id: RedirectId, rejection: &Rejection) -> Self {
        // The request has no item for a link, so a refusal is about none of its texts.
        let value = text_at_fault(&Json::Null, rejection);
        let error = item_error(rejection, &id.to_string(), value);
        Self { id: Text(id), error }
    }
}

/// The components about the bodies.
pub(super) fn components() -> Components {
    let result = open_object(
        "What became of the redirects that a call looked at, at most 10,000.",
        MatchingUpdateBody::properties(),
    );
    let failed = open_object("A redirect that failed, and stays as it is.", FailedLink::properties());
    let changed = open_object("A redirect before and after a change.", ChangedLink::properties());
    let mut components = matching_request::components();
    components.extend([
        ("MatchingUpdateResult", result.into()),
        ("FailedRedirect", failed.into()),
        ("ChangedRedirect", changed.into()),
    ]);
    components
}

/// The endpoint, in the document.
pub(super) fn endpoint() -> Endpoint {
    Endpoint {
        summary: "Update the redirects that match a filter",
        description: "Makes one change to all redirects that match the filters, newest first. A call looks at up to 10,000, \
                      in steps of 100 that are committed one by one; with `next_cursor`, the next call continues. Each \
                      redirect follows the rules of a single update: one that breaks them is in `failed`, and the others are \
                      still changed. A redirect that stops matching before its step is left alone, and so are redirects \
                      that are created meanwhile. After an error, earlier steps stay; the same request changes what is \
                      left. With `dry_run`, nothing is written. The request counts once against the quota.",
        body: Some(body(
            "RedirectsUpdateMatching",
            [
                (
                    "deactivate",
                    "The end of a campaign",
                    json!({"filter": {"tag": ["Sale"]}, "patch": {"is_active": false}}),
                ),
                (
                    "move",
                    "Targets on another site, and other tags",
                    json!({
                        "filter": {"q": "https://example.com/", "created_before": examples::CREATED_AT},
                        "patch": {
                            "add_tags": ["shop"],
                            "remove_tags": ["Sale"],
                            "replace_target_prefix": {"from": "https://example.com/", "to": "https://shop.example.com/"},
                        },
                    }),
                ),
                (
                    "try",
                    "What activating all redirects would do",
                    json!({"filter": {"all": true}, "patch": {"is_active": true}, "dry_run": true}),
                ),
            ],
        )),
        success: ok("What became of the redirects.", "MatchingUpdateResult", example()),
        errors: &[ErrorCode::GroupNotFound],
        ..Endpoint::new("updateMatchingRedirects", RouteMethod::Post, PATH, || web::to(update_matching))
    }
}

/// The answer to a dry run.
fn example() -> Value {
    let before = super::example();
    let mut after = before.clone();
    if let Some(fields) = after.as_object_mut() {
        fields.insert("target_url".to_owned(), json!("https://shop.example.com/autumn?utm_source=mail"));
        fields.insert("revision".to_owned(), json!(examples::REVISION + 1));
    }
    json!({
        "object": "matching_update_result",
        "dry_run": true,
        "matched_count": 3,
        "updated_count": 1,
        "unchanged_count": 2,
        "failed": [],
        "failed_more": 0,
        "examples": [{"before": before, "after": after}],
        "next_cursor": null,
    })
}
