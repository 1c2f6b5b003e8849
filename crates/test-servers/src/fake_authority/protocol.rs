//! The resources of ACME (RFC 8555 section 7).

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::connection::Response;
use super::misbehaviour::Endpoint;
use super::{Replacing, Shared, State};

/// How far an order is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stage {
    Pending,
    Ready,
    /// The certificate is shown after this many polls.
    Processing(usize),
    Valid,
    /// The validation failed with an error of this type.
    Invalid(String),
}

/// One order.
#[derive(Debug, Clone)]
pub(super) struct Order {
    hostname: String,
    stage: Stage,
    request: Vec<u8>,
    pub(super) replaces: Option<String>,
    pub(super) profile: Option<String>,
}

/// Answers a request that nothing goes wrong with.
pub(super) fn answer(shared: &Shared, endpoint: Endpoint, number: usize, body: &[u8]) -> Response {
    let mut state = shared.state();
    let payload = payload(body);
    match endpoint {
        Endpoint::Directory => Response::json(200, &directory(shared, &state)),
        Endpoint::NewNonce => Response::new(200, String::new()),
        Endpoint::NewAccount => {
            let location = format!("{}/account/1", shared.base);
            Response::json(201, &json!({"status": "valid"})).header("Location", &location)
        }
        Endpoint::NewOrder => new_order(shared, &mut state, &payload),
        Endpoint::RenewalInfo => renewal_info(&state),
        Endpoint::Revoke if state.is_revoked => Response::problem(400, "alreadyRevoked"),
        Endpoint::Revoke => {
            state.is_revoked = true;
            Response::new(200, String::new())
        }
        Endpoint::Order
        | Endpoint::Authorization
        | Endpoint::Challenge
        | Endpoint::Finalize
        | Endpoint::Certificate => {
            if number < state.orders.len() {
                of_order(shared, &mut state, endpoint, number, &payload)
            } else {
                Response::problem(404, "malformed")
            }
        }
    }
}

/// The signed content of a request; null if there is none.
fn payload(body: &[u8]) -> Value {
    let signed: Value = serde_json::from_slice(body).unwrap_or_default();
    let encoded = signed["payload"].as_str().unwrap_or_default();
    let decoded = BASE64_URL_SAFE_NO_PAD.decode(encoded).unwrap_or_default();
    serde_json::from_slice(&decoded).unwrap_or_default()
}

fn directory(shared: &Shared, state: &State) -> Value {
    let base = &shared.base;
    let mut directory = json!({
        "newNonce": format!("{base}/nonce"),
        "newAccount": format!("{base}/new-account"),
        "newOrder": format!("{base}/new-order"),
        "revokeCert": format!("{base}/revoke"),
        "meta": {"caaIdentities": ["fake.example.net"]},
    });
    if state.renewal.is_some() {
        directory["renewalInfo"] = json!(format!("{base}/renewal-info"));
    }
    directory
}

fn new_order(shared: &Shared, state: &mut State, payload: &Value) -> Response {
    let text = |field: &str| payload[field].as_str().map(str::to_owned);
    let order = Order {
        hostname: payload["identifiers"][0]["value"].as_str().unwrap_or_default().to_owned(),
        stage: Stage::Pending,
        request: Vec::new(),
        replaces: text("replaces"),
        profile: text("profile"),
    };
    if order.replaces.is_some() && state.replacing == Replacing::AlreadyReplaced {
        return Response::problem(409, "alreadyReplaced");
    }
    state.orders.push(order);
    let number = state.orders.len() - 1;
    let location = format!("{}/order/{number}", shared.base);
    Response::json(201, &shown(shared, state, number)).header("Location", &location)
}

fn shown(shared: &Shared, state: &State, number: usize) -> Value {
    let (order, base) = (&state.orders[number], &shared.base);
    let status = match order.stage {
        Stage::Pending => "pending",
        Stage::Ready => "ready",
        Stage::Processing(_) => "processing",
        Stage::Valid => "valid",
        Stage::Invalid(_) => "invalid",
    };
    let mut shown = json!({
        "status": status,
        "identifiers": [{"type": "dns", "value": order.hostname}],
        "authorizations": [format!("{base}/authorization/{number}")],
        "finalize": format!("{base}/finalize/{number}"),
    });
    if let Some(replaces) = &order.replaces
        && state.replacing != Replacing::Hidden
    {
        shown["replaces"] = json!(replaces);
    }
    if order.stage == Stage::Valid {
        shown["certificate"] = json!(format!("{base}/certificate/{number}"));
    }
    shown
}

fn authorization(shared: &Shared, order: &Order, number: usize) -> Value {
    let (authorization, challenge) = match &order.stage {
        Stage::Pending => ("pending", "pending"),
        Stage::Invalid(_) => ("invalid", "invalid"),
        Stage::Ready | Stage::Processing(_) | Stage::Valid => ("valid", "valid"),
    };
    let mut shown = challenge_of(shared, number, challenge);
    if let Stage::Invalid(kind) = &order.stage {
        let detail = format!("because of {kind}");
        shown["error"] = json!({"type": format!("urn:ietf:params:acme:error:{kind}"), "detail": detail});
    }
    json!({
        "status": authorization,
        "identifier": {"type": "dns", "value": order.hostname},
        "challenges": [shown],
    })
}

fn challenge_of(shared: &Shared, number: usize, status: &str) -> Value {
    let url = format!("{}/challenge/{number}", shared.base);
    json!({"type": "http-01", "status": status, "url": url, "token": format!("token-{number}")})
}

fn of_order(
    shared: &Shared,
    state: &mut State,
    endpoint: Endpoint,
    number: usize,
    payload: &Value,
) -> Response {
    let at = state.orders[number].stage.clone();
    match endpoint {
        Endpoint::Authorization => Response::json(200, &authorization(shared, &state.orders[number], number)),
        Endpoint::Challenge => {
            if at == Stage::Pending {
                let failure = state.validation_failure.clone();
                state.orders[number].stage = failure.map_or(Stage::Ready, Stage::Invalid);
            }
            Response::json(200, &challenge_of(shared, number, "processing"))
        }
        Endpoint::Finalize if at != Stage::Ready => Response::problem(403, "orderNotReady"),
        Endpoint::Finalize => {
            let request = payload["csr"].as_str().unwrap_or_default();
            state.orders[number].request = BASE64_URL_SAFE_NO_PAD.decode(request).unwrap();
            state.orders[number].stage = Stage::Processing(state.processing_polls);
            Response::json(200, &shown(shared, state, number))
        }
        Endpoint::Certificate => {
            let order = &state.orders[number];
            let chain = shared.keys.chain(state.issuing, &order.hostname, &order.request);
            Response::new(200, chain).header("Content-Type", "application/pem-certificate-chain")
        }
        _ => {
            if let Stage::Processing(polls) = at {
                let next = polls.checked_sub(1).map_or(Stage::Valid, Stage::Processing);
                state.orders[number].stage = next;
            }
            let response = Response::json(200, &shown(shared, state, number));
            if at == Stage::Pending { response } else { response.header("Retry-After", "7") }
        }
    }
}

fn renewal_info(state: &State) -> Response {
    let Some(renewal) = &state.renewal else { return Response::problem(404, "malformed") };
    let window = json!({"start": renewal.start, "end": renewal.end});
    let response = Response::json(200, &json!({"suggestedWindow": window}));
    match &renewal.retry_after {
        Some(value) => response.header("Retry-After", value),
        None => response,
    }
}
