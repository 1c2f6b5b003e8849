//! Has the crate built again when a migration is added; the macro that embeds them sees only the files it knows.

fn main() {
    println!("cargo:rerun-if-changed=../../migrations/sqlite");
    println!("cargo:rerun-if-changed=../../migrations/sqlite-clicks");
    println!("cargo:rerun-if-changed=build.rs");
}
