//! Measures bytes and processor time per click: `cargo run --release --package signpost-clicks --example
//! clicks`.
//!
//! The clicks are synthetic. Values and links follow a realistic distribution (Zipf), and half of a day's
//! clicks come from a returning visitor. Times are processor time of this process, so other programs hardly
//! affect them.

#![allow(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program for measurements"
)]

mod measured;
mod synthetic;

use measured::Measured;
use synthetic::{Shape, Traffic};

fn main() {
    let scale: u64 = std::env::args().nth(1).map_or(1, |text| text.parse().expect("a divisor of the load"));
    println!(
        "{:<34} {:>9} {:>7} {:>7} {:>7} {:>7} | ns a click: {:>6} {:>6} {:>6} {:>7}",
        "clicks", "number", "inbox", "packed", "sealed", "digest", "build", "pack", "seal", "digest"
    );
    let shapes = [
        ("hot link, a year", Shape { accounts: 1, links: 1, days: 365 / scale, clicks_a_day: 27_397 }),
        (
            "100,000 links, a month",
            Shape { accounts: 1, links: 100_000, days: 30 / scale, clicks_a_day: 166_667 },
        ),
        (
            "100 accounts, 1,000 links each",
            Shape { accounts: 100, links: 1_000, days: 4 / scale, clicks_a_day: 100_000 },
        ),
        (
            "10,000 accounts, 20 clicks a day",
            Shape { accounts: 10_000, links: 10, days: 1, clicks_a_day: 200_000 },
        ),
    ];
    let mut kept = Vec::new();
    for (name, shape) in shapes {
        let measured = Measured::storing(&Traffic::new(shape));
        println!("{name:<34} {measured}");
        kept.push((name, shape, measured));
    }
    println!();
    println!("{:<52} {:>9} {:>10} {:>9}", "question", "clicks", "ns a click", "ms");
    for (name, shape, measured) in &kept[..2] {
        measured.ask(name, *shape);
    }
}
