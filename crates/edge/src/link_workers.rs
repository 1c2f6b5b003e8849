//! The service that answers visits. Every worker of a listener runs one.

use std::convert::Infallible;
use std::rc::Rc;
use std::sync::Arc;

use actix_http::Request;
use actix_http::body::BoxBody;
use actix_service::{ServiceFactory, fn_service};
use signpost_listener::Reply;

use crate::plain_http::PlainHttp;
use crate::visit::{EdgeState, Worker};

/// What the services of all workers share.
#[derive(Clone)]
pub struct LinkWorkers {
    pub(crate) edge: Arc<EdgeState>,
    /// How requests without TLS are answered, if the program speaks TLS itself.
    pub(crate) plain_http: Option<PlainHttp>,
}

impl LinkWorkers {
    /// The service of one worker.
    #[must_use]
    pub fn service(
        &self,
    ) -> impl ServiceFactory<
        Request,
        Config = (),
        Response = Reply<BoxBody>,
        Error = Infallible,
        InitError = (),
    > + use<> {
        let worker = Worker::new(Arc::clone(&self.edge), self.plain_http.clone());
        fn_service(move |request: Request| {
            let worker = Rc::clone(&worker);
            async move { Ok::<_, Infallible>(worker.answer(request).await) }
        })
    }
}
