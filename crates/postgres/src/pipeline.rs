//! Statements that go out together, in one round trip.

use futures_util::future::join;
use tokio::task::unconstrained;

use crate::failure::Failure;

/// Runs two calls on one connection: what `first` asks first reaches the server before what `second` asks first, which
/// does not wait for its answer. The second must not need to know what the first came to. After a failure of the first the
/// server refuses the second, if they are in a transaction; then the first says why.
pub(crate) async fn both<A, B>(
    first: impl Future<Output = Result<A, Failure>>,
    second: impl Future<Output = Result<B, Failure>>,
) -> Result<(A, B), Failure> {
    // `join` lets the first of the two begin first, and `unconstrained` keeps tokio from holding that one up on its way to
    // the connection.
    let (first, second) = unconstrained(join(first, second)).await;
    Ok((first?, second?))
}
