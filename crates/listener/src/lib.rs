//! HTTP/1.1 listeners: sockets, connections, their deadlines and their bounds.
//!
//! The API, the public links and the metrics all listen through this crate, so that what a stranger may cost the
//! program is decided in one place. A [`Listener`] accepts connections and hands them to worker threads. Each
//! connection is driven by one loop (`connection.rs`): read a head, call the service, write the answer. The parsing
//! and encoding of HTTP is `actix-http`'s codec; when to read, write, wait and close is decided here.
//!
//! | what | bound |
//! |---|---|
//! | a head | [`MOST_HEAD_BYTES`], and [`Times::head`] from its first byte |
//! | a body | [`MOST_BODY_BYTES`] on the wire, and [`Times::body`] |
//! | what is sent after the last answer | [`MOST_LINGERING_BYTES`], and [`Times::lingering`] |
//! | an answer that the client does not take | [`ANSWER_BYTES`] in memory, and [`Times::stalled`] |
//! | pipelined requests | the next one is read when the answer before it is out |
//! | a connection between two requests | [`Times::idle`] |
//! | connections | [`ListenerOptions::connections`]; beyond, a few wait at the [door](ListenerOptions::door) |

mod accept;
mod bind;
mod buffers;
mod connection;
mod door;
mod listener;
mod options;
mod refusal;
mod reply;
mod request_body;
mod watch;
mod wire;
mod worker;

pub use bind::bind;
pub use listener::Listener;
pub use options::{ListenerOptions, Times};
pub use refusal::{Refusal, Refusals};
pub use reply::{Reply, ShortRedirect};
pub use wire::{ANSWER_BYTES, MOST_BODY_BYTES, MOST_HEAD_BYTES, MOST_LINGERING_BYTES};

/// Tells the metrics recorder, if there is one, what the metrics of all listeners mean.
pub fn describe_metrics() {
    accept::describe_metrics();
    connection::describe_metrics();
}
