//! Who may read the spool, and what becomes of it when its folder is removed.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn d48_only_the_owner_may_read_the_spool() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("spool");
    let mut earlier = usual(&folder, 1);
    fill(&mut earlier, [1]);
    let modes = || files(&folder).into_iter().map(|name| mode(&folder.join(name))).collect::<Vec<_>>();
    assert_eq!((mode(&folder), modes()), (0o700, vec![0o600; 2]), "{:?}", files(&folder));
    // As an earlier version left them.
    killed(earlier, &folder);
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    for name in files(&folder) {
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o644)).unwrap();
    }
    let mut spool = usual(&folder, 2);
    spool.adopt();
    fill(&mut spool, [2]);
    assert_eq!((mode(&folder), modes()), (0o700, vec![0o600; 4]), "{:?}", files(&folder));
    assert_eq!(drain(&mut spool).len(), 2);
}

/// Whoever removes it may think that it is empty, or belongs to another program.
#[test]
fn r13_batches_survive_the_removal_of_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("spool");
    let mut first = usual(&folder, 1);
    fill(&mut first, 1..=3);
    let stored = first.next().unwrap().unwrap();
    first.forget(stored);
    fs::remove_dir_all(&folder).unwrap();
    fill(&mut first, [4]);
    killed(first, &folder);
    let mut next = usual(&folder, 2);
    next.adopt();
    let sent = drain(&mut next);
    assert_eq!((instants(&sent), numbers(&sent)), (vec![2, 3, 4], vec![2, 3, 4]));
}

/// The store may take a batch while the file is written anew, with other rows.
#[test]
fn r13_a_batch_that_is_stored_during_the_removal_takes_no_other_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("spool");
    let mut spool = usual(&folder, 1);
    fill(&mut spool, 1..=5);
    assert_eq!(drain(&mut spool).len(), 5);
    fill(&mut spool, 6..=8);
    let stored = spool.next().unwrap().unwrap();
    fs::remove_dir_all(&folder).unwrap();
    fill(&mut spool, [9]);
    spool.forget(stored);
    assert_eq!(instants(&drain(&mut spool)), [6, 7, 8, 9], "the store recognizes the first");
}

#[test]
fn r13_a_removed_file_is_read_while_no_other_can_be_created() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("spool");
    let mut spool = usual(&folder, 1);
    fill(&mut spool, 1..=2);
    fs::remove_dir_all(&folder).unwrap();
    fs::write(&folder, "not a folder").unwrap();
    fill(&mut spool, [3]);
    assert_eq!(instants(&drain(&mut spool)), [1, 2, 3]);
}
