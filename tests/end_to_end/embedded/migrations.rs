//! The file comes about by a command as well: D60.

use crate::harness::signpost;

#[test]
fn d60_migrate_works_on_an_empty_folder() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| signpost(folder.path(), arguments).output().unwrap();
    assert!(run(&["migrate"]).status.success());
    assert!(folder.path().join("signpost.db").exists());
    assert!(run(&["migrate"]).status.success(), "twice is once");
}
