//! Listeners over real sockets: what a client may cost them, and what an honest one gets.

mod bounds;
mod deadlines;
mod harness;
mod http;
mod stopping;
