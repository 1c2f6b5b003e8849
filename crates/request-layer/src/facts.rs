//! What is known about a request.

use std::cell::Cell;
use std::rc::Rc;

use actix_http::HttpMessage;
use signpost_app::Actor;
use signpost_domain::{AccountId, ErrorCode, RequestId};

/// Facts about one request. The layer and the request share them, because the request is gone if its handler panics. `T` is
/// what only this listener knows.
#[derive(Debug)]
pub struct RequestFacts<T> {
    /// The request's id (D4).
    pub id: RequestId,
    /// The pattern that the path matches, or `unmatched`. Log and metrics show it instead of path and query, because callers
    /// put secrets in both.
    pub route: Cell<&'static str>,
    /// The account and who acts for it, once they are known.
    pub actor: Cell<Option<(AccountId, Actor)>>,
    /// The code of the error that the request is answered with.
    pub code: Cell<Option<ErrorCode>>,
    /// What only this listener knows.
    pub own: T,
}

impl<T: Default + 'static> RequestFacts<T> {
    pub(crate) fn new(id: RequestId, route: &'static str) -> Rc<Self> {
        let (route, actor, code, own) = (Cell::new(route), Cell::default(), Cell::default(), T::default());
        Rc::new(Self { id, route, actor, code, own })
    }

    /// The facts about a request; `None` if it did not pass the layer.
    pub fn of(request: &impl HttpMessage) -> Option<Rc<Self>> {
        request.extensions().get::<Rc<Self>>().cloned()
    }
}
