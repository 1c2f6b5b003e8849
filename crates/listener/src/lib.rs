//! HTTP/1.1 listeners: sockets, connections, their deadlines and their limits.
//!
//! The API, the public links and the metrics all listen through this crate, which limits in one place what a client
//! can cost. A [`Listener`] accepts connections and passes them to worker threads. One loop (`connection.rs`) drives
//! each connection: read a head, call the service, write the answer. The codec of `actix-http` parses and encodes HTTP;
//! this crate decides when to read, write, wait and close.
//!
//! | what | limit |
//! |---|---|
//! | a head | [`MAX_HEAD_BYTES`], and [`Times::head`] from its first byte |
//! | the unfinished heads of all connections, also in unfinished TLS records | [`ListenerOptions::head_memory`], beyond 4 KiB of each |
//! | a body | [`MAX_BODY_BYTES`] on the wire, and [`Times::body`] |
//! | data after the last answer | [`MAX_LINGERING_BYTES`], and [`Times::lingering`] |
//! | an answer that the client does not read | [`ANSWER_BYTES`] in memory, and [`Times::stalled`] |
//! | a TLS handshake | [`Times::handshake`], 16 KiB, a quarter of the connections, and 64 for one peer |
//! | pipelined requests | the next one is read once the previous answer is written |
//! | a connection between two requests | [`Times::idle`] |
//! | connections | [`ListenerOptions::connections`], and half of them for one [peer](ListenerOptions::proxies). Beyond that, the connection that has waited longest for a request is closed, and a few more wait at the [door](ListenerOptions::door) |

mod accept;
mod answer;
mod answer_headers;
mod bind;
mod ciphertext;
mod compression;
mod connection;
mod connection_limit;
mod door;
mod entrance;
mod head_memory;
mod listener;
mod options;
mod passed_sockets;
mod proxy_protocol;
mod reply;
mod request_body;
mod request_target;
mod requested_host;
mod stream;
mod tls;
mod watch;
mod wire;
mod worker;

pub use answer_headers::{
    AnswerKind, CACHED_FOR_AN_HOUR, NO_STORE, PRIVATE_FOR_90_SECONDS, PRIVATE_NO_STORE,
};
pub use bind::bind;
pub use compression::{AcceptedEncodings, Effort, Encoding, LEAST_BYTES};
pub use listener::Listener;
pub use options::{ListenerOptions, Proxies, Times};
pub use passed_sockets::PassedSockets;
pub use reply::{ListenerRefusal, ListenerRefusals, RedirectHead, Reply, ShortRedirect};
pub use requested_host::host_of;
pub use tls::{ACME_TLS_1, CertificateNames, TlsChallenges, TlsOptions, TlsSite, TlsSites};
pub use wire::{ANSWER_BYTES, MAX_BODY_BYTES, MAX_HEAD_BYTES, MAX_LINGERING_BYTES};

/// Describes the metrics of all listeners to the installed recorder.
pub fn describe_metrics() {
    accept::describe_metrics();
    connection::describe_metrics();
    entrance::describe_metrics();
}
