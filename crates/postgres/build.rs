//! Rebuilds the crate when a migration is added; the embedding macro only tracks the files that it already knows.

fn main() {
    println!("cargo:rerun-if-changed=../../migrations/postgres");
    println!("cargo:rerun-if-changed=build.rs");
}
