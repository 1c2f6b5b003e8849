//! What happens to every request, whichever endpoint it is for, or none.
//!
//! From the outside in: the [`frame`] gives the request its id and every response its form, and [`admission`]
//! lets the request in. Routing comes behind both, because a path that nothing has is a 404 only for somebody who
//! was let in (D7).

pub(crate) mod access_log;
pub(crate) mod admission;
pub(crate) mod common_headers;
pub(crate) mod frame;
mod framework_errors;
mod rate_limit_headers;
mod request_facts;
