//! The archive: the program with everything that an installation by hand needs.

use std::path::Path;

use anyhow::Result;

use super::contents::Contents;
use super::processor::Processor;
use super::tree::{Tree, tar};
use super::{Artifact, Place};
use crate::tool_folder::run;

/// Makes the archive.
pub(super) fn make(
    place: &Place<'_>,
    contents: &Contents,
    processor: Processor,
    program: &Path,
) -> Result<Artifact> {
    let name = format!("signpost-{}-linux-{}", place.release.version, processor.name());
    let tree = Tree::new(place.work.join(&name))?;
    tree.copy_program(program, "signpost")?;
    for file in &contents.files {
        tree.copy(&file.source, &file.in_archive)?;
    }
    let archive = place.results.join(format!("{name}.tar.gz"));
    let mut command = tar("--create", &archive, place.release, 0);
    command.args(["--use-compress-program", "gzip -9 --no-name"]);
    run(command.arg("--directory").arg(place.work).arg(&name))?;
    Ok(Artifact::new(archive))
}
