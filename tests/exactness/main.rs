//! Compares the answers of analytics with an independent count of the visits.
//!
//! The test sends known visits to a real link listener, over several days of a clock that it sets. They are
//! recorded, stored, packed, summed up and sealed as in the program. The test then asks random questions
//! through the API. Each answer must equal the count of the test's own model (D45 to D49).

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests fail by panicking"
)]
#![allow(clippy::disallowed_methods, reason = "tests write to the store what no use case creates")]

mod chance;
mod exports;
mod local_time;
mod model;
mod questions;
mod scene;
mod scenery;
mod stores;
mod visits;

use crate::scene::Scene;
use crate::scenery::{DEACTIVATED, LOST};
use crate::stores::Kind;

/// How many visits a run has.
const VISITS: usize = 1_000;

/// How many questions are asked at each stage.
const QUESTIONS: usize = 40;

async fn every_answer_is_exact(kind: Kind) {
    for seed in chance::seeds() {
        chance::announce(seed);
        let Some(mut scene) = Scene::start(kind, seed).await else { return };
        let visits = scene.plan_visits(VISITS);
        // Upkeep runs at random moments, and some questions are about days that have not ended.
        for (number, visit) in visits.iter().enumerate() {
            scene.make(visit).await;
            if number == VISITS / 2 {
                scene.deactivate(DEACTIVATED);
            }
            if number % 200 == 199 {
                scene.settle().await;
                scene.compare(QUESTIONS / 4).await;
                scene.keep_up_at_random().await;
                scene.compare(QUESTIONS / 4).await;
            }
        }
        scene.settle().await;
        scene.lose(LOST).await;
        scene.compare(QUESTIONS).await;
        scene.compare_while_upkeep_runs(QUESTIONS).await;
        scene.pass_days(4);
        scene.keep_up().await;
        scene.compare(QUESTIONS).await;
        scene.compare_exports();
        scene.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d46_r14_every_answer_is_exact_on_the_fake() {
    every_answer_is_exact(Kind::Memory).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn d46_r14_every_answer_is_exact_on_the_embedded_store() {
    every_answer_is_exact(Kind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn d46_r14_every_answer_is_exact_on_postgresql() {
    every_answer_is_exact(Kind::Postgres).await;
}
