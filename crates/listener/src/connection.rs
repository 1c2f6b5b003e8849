//! The life of one connection: a loop of head, service and answer.
//!
//! It is one loop instead of the framework's own, because that one times only the first head of a connection, reads
//! requests while answers wait, holds whole answers in memory, and leaves no hook for what it refuses.

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use actix_http::body::{BodySize, BoxBody, MessageBody};
use actix_http::error::ParseError;
use actix_http::h1::Message;
use actix_http::{ConnectionType, Payload, Request, Response};
use actix_service::Service;

use crate::door::Ticket;
use crate::refusal::{Refusal, Refusals};
use crate::request_body::{BodyState, RequestBody};
use crate::wire::{ANSWER_BYTES, HeadEnd, MOST_HEAD_BYTES, Wire};

/// When the listener stops: how long a connection that has just come may take to begin its first request, and how long a
/// head that has begun may take to end.
const FIRST_REQUEST_TIME: Duration = Duration::from_millis(250);
const LAST_HEAD_TIME: Duration = Duration::from_secs(1);

const ENDED: &str = "signpost_connections_ended_total";

pub(crate) fn describe_metrics() {
    metrics::describe_counter!(
        ENDED,
        "Connections that were ended for what the client sent, or did not send or take, by listener and reason."
    );
}

/// What the connections of a worker have in common.
pub(crate) struct Answering<S> {
    pub(crate) service: S,
    pub(crate) refusals: std::sync::Arc<dyn Refusals>,
    pub(crate) listener: &'static str,
    pub(crate) door: fn(&str) -> bool,
}

/// Why a connection ends.
#[derive(Debug)]
enum End {
    /// The client has closed it, or broke it; or it was idle for long enough.
    Quiet,
    /// The client gets this answer, and no other.
    Refused(Refusal),
    /// The client did not take its answer.
    Stalled,
}

impl From<io::Error> for End {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::TimedOut { Self::Stalled } else { Self::Quiet }
    }
}

/// Drives a connection to its end.
///
/// The socket is dropped before the ticket, so that there are never more sockets than places.
pub(crate) async fn drive<S, B>(
    mut ticket: Ticket,
    peer: SocketAddr,
    wire: Rc<Wire>,
    answering: Rc<Answering<S>>,
) where
    S: Service<Request>,
    S::Response: Into<Response<B>>,
    S::Error: Into<Response<BoxBody>>,
    B: MessageBody,
{
    if matches!(ticket, Ticket::Door(_)) {
        wire.limit_patience(wire.times.door);
    }
    loop {
        // Requests that are all there already must not keep the worker from its other connections.
        tokio::task::coop::consume_budget().await;
        match one_request(&wire, peer, &mut ticket, &answering).await {
            Ok(true) => {}
            Ok(false) | Err(End::Quiet) => return,
            Err(End::Refused(refusal)) => {
                answering.count_end(refusal.label());
                if refusal != Refusal::Overloaded {
                    // The answer must not be that to an earlier request.
                    wire.begin_anew();
                }
                refuse(&wire, answering.refusals.answer(refusal), &ticket).await;
                return;
            }
            Err(End::Stalled) => {
                answering.count_end("stalled");
                wire.give_up();
                return;
            }
        }
    }
}

impl<S> Answering<S> {
    fn count_end(&self, reason: &'static str) {
        metrics::counter!(ENDED, "listener" => self.listener, "reason" => reason).increment(1);
    }
}

/// Takes one request and answers it. `false` if the connection ends with it.
async fn one_request<S, B>(
    wire: &Rc<Wire>,
    peer: SocketAddr,
    ticket: &mut Ticket,
    answering: &Answering<S>,
) -> Result<bool, End>
where
    S: Service<Request>,
    S::Response: Into<Response<B>>,
    S::Error: Into<Response<BoxBody>>,
    B: MessageBody,
{
    let mut request = head(wire, ticket).await?;
    if let Ticket::Door(waiting) = &*ticket {
        match waiting.enter() {
            Some(place) => *ticket = Ticket::Place(place),
            None if (answering.door)(request.path()) => {}
            None => return Err(End::Refused(Refusal::Overloaded)),
        }
    }
    request.head_mut().peer_addr = Some(peer);
    let body = wire.has_body().then(|| {
        let state = BodyState::new(request.head().expect());
        let body = RequestBody::new(Rc::clone(wire), Rc::clone(&state));
        *request.payload() = Payload::Stream { payload: Box::pin(body) };
        state
    });
    let answered = call(&answering.service, request, body.as_deref(), wire).await;
    wire.watch.lift();
    let is_settled = body.is_none_or(|body| body.settle(wire));
    let is_at_the_door = matches!(ticket, Ticket::Door(_));
    // A connection that the request wants to upgrade is closed too: there is nothing to upgrade it to.
    let closes = !is_settled || is_at_the_door || wire.watch.is_stopping() || !wire.is_kept_alive();
    match answered {
        Ok(response) => answer(wire, response.into(), closes).await?,
        Err(error) => answer(wire, error.into(), closes).await?,
    }
    if !closes && wire.is_kept_alive() {
        return Ok(true);
    }
    wire.flush().await?;
    close(wire, ticket, is_settled).await;
    Ok(false)
}

/// Closes a connection whose last answer is written. With something unread it would be reset, and the answer could be lost
/// on its way; whoever still sends is listened to for a while, if the connection has a place.
async fn close(wire: &Wire, ticket: &Ticket, is_all_read: bool) {
    let has_more = wire.read_what_is_there(MOST_HEAD_BYTES) > 0 || wire.unused_bytes() > 0;
    if matches!(ticket, Ticket::Place(_)) && (has_more || !is_all_read) {
        wire.linger().await;
    }
}

/// Waits for the head of the next request. What is to be written goes out before anything is waited for.
async fn head(wire: &Wire, ticket: &Ticket) -> Result<Request, End> {
    let mut looked_through = 0;
    let mut parsed_at = 0;
    let mut phase = Phase::Arrived;
    let mut is_last = false;
    loop {
        let unused = wire.unused_bytes();
        // To parse the whole beginning again for every byte that comes would let a client buy seconds of work with
        // kilobytes. A beginning that can never become a head is found out now and then.
        let end = wire.look_for_end_of_head(looked_through);
        if end == HeadEnd::BareLineFeed {
            return Err(End::Refused(Refusal::NotHttp));
        }
        if unused > 0 && (unused >= 2 * parsed_at || end == HeadEnd::Found) {
            parsed_at = unused;
            match wire.decode() {
                Ok(Some(Message::Item(request))) => {
                    wire.watch.lift();
                    return Ok(request);
                }
                Ok(None) => {}
                Err(ParseError::TooLarge) => return Err(End::Refused(Refusal::HeadTooLarge)),
                Err(ParseError::Io(_)) => return Err(End::Quiet),
                Ok(Some(Message::Chunk(_))) | Err(_) => return Err(End::Refused(Refusal::NotHttp)),
            }
        }
        looked_through = unused;
        if unused >= MOST_HEAD_BYTES {
            return Err(End::Refused(Refusal::HeadTooLarge));
        }
        if wire.unwritten_bytes() > 0 {
            wire.flush().await?;
        }
        if wire.is_at_end() {
            return Err(End::Quiet);
        }
        let waits_for = match ticket {
            // From the first moment on.
            Ticket::Door(_) => (phase == Phase::Arrived).then_some(wire.times.door),
            Ticket::Place(_) if wire.is_fresh() => (phase == Phase::Arrived).then_some(wire.times.head),
            Ticket::Place(_) if unused == 0 => Some(wire.times.idle),
            // From its first byte on.
            Ticket::Place(_) => (phase != Phase::Begun).then_some(wire.times.head),
        };
        if let Some(time) = waits_for.filter(|_| !is_last) {
            wire.watch.limit(time);
        }
        phase = if unused == 0 { Phase::Waiting } else { Phase::Begun };
        more_of_a_head(wire, ticket, unused, &mut is_last).await?;
    }
}

/// How far a head has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Nothing was waited for yet.
    Arrived,
    /// Nothing of it is there.
    Waiting,
    /// Some of it is there.
    Begun,
}

/// Reads more of a head of which `begun` bytes are there. `is_last` remembers that the listener stops.
async fn more_of_a_head(wire: &Wire, ticket: &Ticket, begun: usize, is_last: &mut bool) -> Result<(), End> {
    let most = MOST_HEAD_BYTES.saturating_sub(begun);
    poll_fn(|cx| {
        match wire.poll_read(cx, most, begun.clamp(1024, MOST_HEAD_BYTES).min(most)) {
            Poll::Ready(read) => return Poll::Ready(read.map(drop).map_err(|_| End::Quiet)),
            Poll::Pending => {}
        }
        if begun == 0 {
            wire.release();
        }
        if let Ticket::Door(waiting) = ticket
            && waiting.poll_must_go(cx).is_ready()
        {
            return Poll::Ready(Err(End::Refused(Refusal::Overloaded)));
        }
        if wire.watch.is_stopping() {
            // Without a request under way there is nothing to be finished. The first one may be on its way.
            if begun == 0 && !wire.is_fresh() {
                return Poll::Ready(Err(End::Quiet));
            }
            if !*is_last {
                *is_last = true;
                let time = if begun == 0 { FIRST_REQUEST_TIME } else { LAST_HEAD_TIME };
                wire.watch.limit(time.min(wire.times.head));
            }
        }
        if wire.watch.is_over() {
            return Poll::Ready(Err(match ticket {
                Ticket::Door(_) => End::Refused(Refusal::Overloaded),
                Ticket::Place(_) if begun == 0 => End::Quiet,
                Ticket::Place(_) => End::Refused(Refusal::HeadTooSlow),
            }));
        }
        wire.watch.wake_later(cx);
        Poll::Pending
    })
    .await
}

/// Calls the service. Meanwhile earlier answers go out, and a client that waits for leave to send its body gets it when
/// the service asks for that body.
async fn call<S: Service<Request>>(
    service: &S,
    request: Request,
    body: Option<&BodyState>,
    wire: &Wire,
) -> Result<S::Response, S::Error> {
    let mut answer = pin!(service.call(request));
    poll_fn(|cx| {
        let polled = answer.as_mut().poll(cx);
        if polled.is_pending() {
            if body.is_some_and(BodyState::takes_continue) {
                wire.put(b"HTTP/1.1 100 Continue\r\n\r\n");
            }
            wire.write_what_fits(cx);
        }
        polled
    })
    .await
}

/// Sends an answer. A short one may be left to be written with the next.
async fn answer<B: MessageBody>(wire: &Wire, response: Response<B>, closes: bool) -> Result<(), End> {
    let (mut head, body) = response.into_parts();
    if closes {
        head.head_mut().set_connection_type(ConnectionType::Close);
    }
    let size = body.size();
    wire.encode_head(head, size)?;
    if !matches!(size, BodySize::None | BodySize::Sized(0)) {
        send_body(wire, pin!(body)).await?;
    }
    if wire.unwritten_bytes() >= ANSWER_BYTES {
        wire.flush().await?;
    }
    Ok(())
}

async fn send_body<B: MessageBody>(wire: &Wire, mut body: Pin<&mut B>) -> Result<(), End> {
    loop {
        let next = poll_fn(|cx| {
            let polled = body.as_mut().poll_next(cx);
            if polled.is_pending() {
                wire.write_what_fits(cx);
            }
            polled
        });
        match next.await {
            Some(Ok(mut rest)) => {
                while !rest.is_empty() {
                    let part = rest.split_to(rest.len().min(ANSWER_BYTES));
                    wire.encode_body(Some(part))?;
                    if wire.unwritten_bytes() >= ANSWER_BYTES {
                        wire.flush().await?;
                    }
                }
            }
            Some(Err(error)) => {
                let error: Box<dyn std::error::Error> = error.into();
                tracing::error!(%error, "the body of an answer broke off");
                // Without its end, so that the client sees that it is not whole.
                return Err(End::Quiet);
            }
            None => return Ok(wire.encode_body(None)?),
        }
    }
}

/// Sends the answer to a request that never reached the service, and closes.
async fn refuse(wire: &Wire, response: Response<BoxBody>, ticket: &Ticket) {
    let sent = async {
        answer(wire, response, true).await?;
        Ok::<_, End>(wire.flush().await?)
    };
    match sent.await {
        Ok(()) => close(wire, ticket, false).await,
        Err(End::Stalled) => wire.give_up(),
        Err(End::Quiet | End::Refused(_)) => {}
    }
}
