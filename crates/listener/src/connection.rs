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

use actix_http::body::{BodySize, BoxBody, MessageBody};
use actix_http::error::ParseError;
use actix_http::h1::Message;
use actix_http::{ConnectionType, Payload, Request, Response};
use actix_service::Service;

use crate::door::Ticket;
use crate::refusal::{Refusal, Refusals};
use crate::request_body::{BodyState, RequestBody};
use crate::wire::{ANSWER_BYTES, MOST_HEAD_BYTES, Wire};

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
pub(crate) async fn drive<S, B>(
    wire: Rc<Wire>,
    peer: SocketAddr,
    mut ticket: Ticket,
    answering: Rc<Answering<S>>,
) where
    S: Service<Request>,
    S::Response: Into<Response<B>>,
    S::Error: Into<Response<BoxBody>>,
    B: MessageBody,
{
    loop {
        match one_request(&wire, peer, &mut ticket, &answering).await {
            Ok(true) => {}
            Ok(false) | Err(End::Quiet) => return,
            Err(End::Refused(refusal)) => {
                answering.count_end(refusal.label());
                refuse(&wire, answering.refusals.answer(refusal), refusal != Refusal::Overloaded).await;
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
    let closes = !is_settled || wire.watch.is_stopping() || matches!(ticket, Ticket::Door(_));
    match answered {
        Ok(response) => answer(wire, response.into(), closes).await?,
        Err(error) => answer(wire, error.into(), closes).await?,
    }
    if !closes && wire.is_kept_alive() {
        return Ok(true);
    }
    wire.flush().await?;
    if !is_settled || wire.unused_bytes() > 0 {
        wire.linger().await;
    }
    Ok(false)
}

/// Waits for the head of the next request. What is to be written goes out before anything is waited for.
async fn head(wire: &Wire, ticket: &Ticket) -> Result<Request, End> {
    let mut looked_through = 0;
    let mut parsed_at = 0;
    let mut has_begun = false;
    loop {
        let unused = wire.unused_bytes();
        // To parse the whole beginning again for every byte that comes would let a client buy seconds of work with
        // kilobytes. A beginning that can never become a head is found out now and then.
        if unused > 0 && (wire.has_end_of_head(looked_through) || unused >= 2 * parsed_at) {
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
        if wire.is_at_end() {
            return Err(End::Quiet);
        }
        if wire.unwritten_bytes() > 0 {
            wire.flush().await?;
        }
        if unused == 0 {
            wire.release();
        }
        if unused > 0 && !has_begun {
            has_begun = true;
            wire.watch.limit(match ticket {
                Ticket::Place(_) => wire.times.head,
                Ticket::Door(_) => wire.times.door,
            });
        } else if unused == 0 {
            wire.watch.limit(match ticket {
                Ticket::Place(_) if wire.is_fresh() => wire.times.head,
                Ticket::Place(_) => wire.times.idle,
                Ticket::Door(_) => wire.times.door,
            });
        }
        more_of_a_head(wire, ticket, unused).await?;
    }
}

/// Reads more of a head of which `begun` bytes are there.
async fn more_of_a_head(wire: &Wire, ticket: &Ticket, begun: usize) -> Result<(), End> {
    poll_fn(|cx| {
        match wire.poll_read(cx, MOST_HEAD_BYTES - begun, begun.clamp(1024, MOST_HEAD_BYTES)) {
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
        // Without a request under way there is nothing to be finished.
        if begun == 0 && wire.watch.is_stopping() {
            return Poll::Ready(Err(End::Quiet));
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
            // An error shows when the answer is written.
            while wire.unwritten_bytes() > 0 && matches!(wire.poll_write(cx), Poll::Ready(Ok(_))) {}
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
                while wire.unwritten_bytes() > 0 && matches!(wire.poll_write(cx), Poll::Ready(Ok(_))) {}
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

/// Sends the answer to a request that never reached the service, and closes. Where there are too many connections already,
/// none lingers.
async fn refuse(wire: &Wire, response: Response<BoxBody>, lingers: bool) {
    wire.begin_anew();
    let sent = async {
        answer(wire, response, true).await?;
        Ok::<_, End>(wire.flush().await?)
    };
    match sent.await {
        Ok(()) if lingers => wire.linger().await,
        Ok(()) => wire.read_what_is_there(MOST_HEAD_BYTES),
        Err(End::Stalled) => wire.give_up(),
        Err(End::Quiet | End::Refused(_)) => {}
    }
}
