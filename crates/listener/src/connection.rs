//! The life of a connection: a loop of head, service call and answer.
//!
//! It replaces the framework's own loop, which times only the first head of a connection and reads requests
//! while answers wait. That loop also holds whole answers in memory, and offers no hook for refused requests.

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use actix_http::body::{BoxBody, MessageBody};
use actix_http::error::ParseError;
use actix_http::h1::Message;
use actix_http::{Payload, Request, Response};
use actix_service::Service;

use crate::answer::{AnswerForm, answer};
use crate::door::Ticket;
use crate::reply::{ListenerRefusal, ListenerRefusals, Reply};
use crate::request_body::{BodyState, RequestBody};
use crate::request_target::TargetTooLong;
use crate::requested_host::host_of;
use crate::wire::{HeadEnd, MAX_HEAD_BYTES, Wire};

/// The time that a new connection gets to begin its first request when the listener stops. The constant below
/// is the time that a begun head gets to end.
const FIRST_REQUEST_TIME: Duration = Duration::from_millis(250);
const LAST_HEAD_TIME: Duration = Duration::from_secs(1);

const ENDED: &str = "signpost_connections_ended_total";

pub(crate) fn describe_metrics() {
    metrics::describe_counter!(
        ENDED,
        "Connections ended because of what the client sent, or failed to send or read, by listener and reason."
    );
}

/// What the connections of a worker share.
pub(crate) struct Responder<S> {
    pub(crate) service: S,
    pub(crate) refusals: std::sync::Arc<dyn ListenerRefusals>,
    pub(crate) listener: &'static str,
    pub(crate) door: fn(&str) -> bool,
    pub(crate) encodes_targets: bool,
}

/// Why a connection ends.
#[derive(Debug)]
pub(crate) enum End {
    /// The client closed or broke the connection, or it was idle for too long.
    Closed,
    /// The client gets this answer and no further one.
    Refused(ListenerRefusal),
    /// The client did not read its answer.
    Stalled,
    /// Its place goes to another connection, while its head is incomplete.
    Evicted,
}

impl From<io::Error> for End {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::TimedOut { Self::Stalled } else { Self::Closed }
    }
}

/// Drives a connection to its end.
///
/// It drops the socket before the ticket, so there are never more sockets than permits.
pub(crate) async fn drive<S, B>(
    mut ticket: Ticket,
    peer: SocketAddr,
    wire: Rc<Wire>,
    responder: &Responder<S>,
) where
    S: Service<Request>,
    S::Response: Into<Reply<B>>,
    S::Error: Into<Response<BoxBody>>,
    B: MessageBody,
{
    if matches!(ticket, Ticket::Door(_)) {
        wire.set_stall_limit(wire.times.door);
    }
    loop {
        // Requests that have already arrived must not keep the worker from its other connections.
        tokio::task::coop::consume_budget().await;
        match one_request(&wire, peer, &mut ticket, responder).await {
            Ok(true) => {}
            Ok(false) | Err(End::Closed) => return,
            Err(End::Refused(refusal)) => {
                responder.count_end(refusal.label());
                if refusal != ListenerRefusal::Overloaded {
                    // The answer must not take its form from an earlier request.
                    wire.reset_codec();
                }
                refuse(&wire, wire.refusal(&*responder.refusals, refusal), &ticket).await;
                return;
            }
            Err(End::Evicted) => {
                responder.count_end(ListenerRefusal::Overloaded.label());
                wire.reset_codec();
                // It does not linger, because another connection waits for its place.
                let refused = wire.refusal(&*responder.refusals, ListenerRefusal::Overloaded);
                if answer(&wire, refused, true, AnswerForm::default()).await.is_ok() {
                    let _ = wire.flush().await;
                }
                return;
            }
            Err(End::Stalled) => {
                responder.count_end("stalled");
                wire.discard_output();
                return;
            }
        }
    }
}

impl<S> Responder<S> {
    pub(crate) fn count_end(&self, reason: &'static str) {
        metrics::counter!(ENDED, "listener" => self.listener, "reason" => reason).increment(1);
    }
}

/// Reads one request and answers it. Returns `false` if the connection ends.
async fn one_request<S, B>(
    wire: &Rc<Wire>,
    peer: SocketAddr,
    ticket: &mut Ticket,
    responder: &Responder<S>,
) -> Result<bool, End>
where
    S: Service<Request>,
    S::Response: Into<Reply<B>>,
    S::Error: Into<Response<BoxBody>>,
    B: MessageBody,
{
    let mut request = head(wire, ticket, responder.encodes_targets).await?;
    if let Ticket::Door(waiting) = &*ticket {
        match waiting.enter() {
            Some(permit) => *ticket = Ticket::Permit(permit),
            None if (responder.door)(request.path()) => {}
            None => return Err(End::Refused(ListenerRefusal::Overloaded)),
        }
    }
    if wire.is_tls() && !host_of(&request).is_none_or(|host| wire.covers(host)) {
        return Err(End::Refused(ListenerRefusal::Misdirected));
    }
    request.head_mut().peer_addr = Some(peer);
    let form = AnswerForm::of(&request);
    let body = wire.has_body().then(|| {
        let state = BodyState::new(request.head().expect());
        let body = RequestBody::new(Rc::clone(wire), Rc::clone(&state));
        *request.payload() = Payload::Stream { payload: Box::pin(body) };
        state
    });
    let answered = call(&responder.service, request, body.as_deref(), wire).await;
    wire.watch.clear_deadline();
    let is_settled = body.is_none_or(|body| body.settle(wire));
    let is_at_the_door = matches!(ticket, Ticket::Door(_));
    // A requested upgrade also closes the connection, because no upgrade is supported.
    let closes = !is_settled || is_at_the_door || wire.watch.is_stopping() || !wire.is_kept_alive();
    let closes = match answered.map(Into::into) {
        Ok(Reply::Redirect(redirect)) => {
            let closes = closes || redirect.closes();
            wire.put_redirect(&redirect, closes);
            closes
        }
        Ok(Reply::Response(response)) => {
            answer(wire, response, closes, form).await?;
            closes
        }
        Err(error) => {
            answer(wire, error.into(), closes, form).await?;
            closes
        }
    };
    if !closes && wire.is_kept_alive() {
        return Ok(true);
    }
    wire.flush().await?;
    close(wire, ticket, is_settled).await;
    Ok(false)
}

/// Closes a connection after its last answer. Closing with unread data would reset the connection, and the
/// answer could be lost. So a connection with a permit reads on for a while if the client still sends.
async fn close(wire: &Wire, ticket: &Ticket, is_all_read: bool) {
    let has_more =
        wire.read_available(MAX_HEAD_BYTES) > 0 || wire.unused_bytes() + wire.undecrypted_bytes() > 0;
    if matches!(ticket, Ticket::Permit(_)) && (has_more || !is_all_read) {
        wire.linger().await;
    }
}

/// Waits for the head of the next request. It flushes pending output before it waits.
async fn head(wire: &Wire, ticket: &Ticket, encodes_target: bool) -> Result<Request, End> {
    let mut looked_through = 0;
    let mut parsed_at = 0;
    let mut phase = Phase::Arrived;
    let mut is_last = false;
    loop {
        let mut unused = wire.unused_bytes();
        // Parsing again for every byte would let a client buy seconds of work with kilobytes. So the parser
        // runs only now and then on an incomplete head, to detect input that can never become one.
        let end = wire.find_head_end(looked_through);
        if end == HeadEnd::BareLineFeed {
            return Err(End::Refused(ListenerRefusal::NotHttp));
        }
        if unused > 0 && (unused >= 2 * parsed_at || end == HeadEnd::Found) {
            parsed_at = unused;
            if encodes_target && end == HeadEnd::Found {
                wire.encode_target().map_err(|TargetTooLong| End::Refused(ListenerRefusal::HeadTooLarge))?;
                unused = wire.unused_bytes();
            }
            match wire.decode() {
                Ok(Some(Message::Item(request))) => {
                    wire.watch.clear_deadline();
                    wire.watch.end_waiting();
                    return Ok(request);
                }
                Ok(None) => {}
                Err(ParseError::TooLarge) => return Err(End::Refused(ListenerRefusal::HeadTooLarge)),
                Err(ParseError::Io(_)) => return Err(End::Closed),
                Ok(Some(Message::Chunk(_))) | Err(_) => return Err(End::Refused(ListenerRefusal::NotHttp)),
            }
        }
        looked_through = unused;
        if unused >= MAX_HEAD_BYTES {
            return Err(End::Refused(ListenerRefusal::HeadTooLarge));
        }
        if wire.unwritten_bytes() > 0 {
            wire.flush().await?;
        }
        if wire.is_at_end() {
            return Err(End::Closed);
        }
        let has_begun = unused + wire.undecrypted_bytes() > 0;
        let waits_for = match ticket {
            // From the moment the connection is accepted.
            Ticket::Door(_) => (phase == Phase::Arrived).then_some(wire.times.door),
            Ticket::Permit(_) if wire.is_fresh() => (phase == Phase::Arrived).then_some(wire.times.head),
            Ticket::Permit(permit) if !has_begun => Some(permit.idle_time(wire.times.idle)),
            // From the first byte of the head.
            Ticket::Permit(_) => (phase != Phase::Begun).then_some(wire.times.head),
        };
        if let Some(time) = waits_for.filter(|_| !is_last) {
            wire.watch.set_deadline(time);
        }
        phase = if has_begun { Phase::Begun } else { Phase::Waiting };
        read_more_head(wire, ticket, unused, &mut is_last).await?;
    }
}

/// The progress of a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The connection has not waited yet.
    Arrived,
    /// No byte of the head has arrived, not even encrypted.
    Waiting,
    /// Some of the head has arrived.
    Begun,
}

/// Reads more of a head. `unused` bytes of it have arrived and are decrypted. `is_last` remembers that the listener stops.
async fn read_more_head(wire: &Wire, ticket: &Ticket, unused: usize, is_last: &mut bool) -> Result<(), End> {
    let undecrypted = wire.undecrypted_bytes();
    let has_begun = unused + undecrypted > 0;
    let most = MAX_HEAD_BYTES.saturating_sub(unused);
    let room = unused.clamp(1024, MAX_HEAD_BYTES).min(most);
    if !wire.may_hold_head(unused + room) {
        // The codec has not seen this head, and may still be set to an earlier request.
        wire.reset_codec();
        return Err(End::Refused(ListenerRefusal::Overloaded));
    }
    poll_fn(|cx| {
        match wire.poll_read(cx, most, room) {
            Poll::Ready(read) => return Poll::Ready(read.map(drop).map_err(|_| End::Closed)),
            Poll::Pending => {}
        }
        if wire.undecrypted_bytes() > undecrypted {
            // The caller sets the deadline of a begun head, and the larger part counts in its memory.
            return Poll::Ready(Ok(()));
        }
        if unused == 0 {
            wire.release();
        }
        if matches!(ticket, Ticket::Permit(_)) {
            if wire.watch.is_evicted() {
                // What has arrived meanwhile comes first: a closed connection with unread data is reset.
                if wire.read_available(most) > 0 {
                    wire.watch.end_waiting();
                    return Poll::Ready(Ok(()));
                }
                return Poll::Ready(Err(if has_begun { End::Evicted } else { End::Closed }));
            }
            wire.watch.begin_waiting();
        }
        if ticket.poll_evicted(cx).is_ready() {
            return Poll::Ready(Err(End::Refused(ListenerRefusal::Overloaded)));
        }
        if wire.watch.is_stopping() {
            // No request is running, so nothing needs to finish. A first request may be on its way.
            if !has_begun && !wire.is_fresh() {
                return Poll::Ready(Err(End::Closed));
            }
            if !*is_last {
                *is_last = true;
                let time = if has_begun { LAST_HEAD_TIME } else { FIRST_REQUEST_TIME };
                wire.watch.set_deadline(time.min(wire.times.head));
            }
        }
        if wire.watch.is_expired() {
            return Poll::Ready(Err(match ticket {
                Ticket::Door(_) => End::Refused(ListenerRefusal::Overloaded),
                Ticket::Permit(_) if !has_begun => End::Closed,
                Ticket::Permit(_) => End::Refused(ListenerRefusal::HeadTooSlow),
            }));
        }
        wire.watch.wake_later(cx);
        Poll::Pending
    })
    .await
}

/// Calls the service. Meanwhile earlier answers are written. A client that waits for `100 Continue` gets it
/// when the service asks for the body.
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
            if body.is_some_and(BodyState::take_continue) {
                wire.put(b"HTTP/1.1 100 Continue\r\n\r\n");
            }
            wire.write_available(cx);
        }
        polled
    })
    .await
}

/// Sends the answer to a request that never reached the service, and closes.
async fn refuse(wire: &Wire, response: Response<BoxBody>, ticket: &Ticket) {
    let sent = async {
        answer(wire, response, true, AnswerForm::default()).await?;
        Ok::<_, End>(wire.flush().await?)
    };
    match sent.await {
        Ok(()) => close(wire, ticket, false).await,
        Err(End::Stalled) => wire.discard_output(),
        Err(End::Closed | End::Refused(_) | End::Evicted) => {}
    }
}
