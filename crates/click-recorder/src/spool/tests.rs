mod changed_folders;
mod nearly_full_disks;

use std::fs;

use signpost_memory::SeededRandomness;

use super::*;

fn spool(folder: &Path, seed: u64, limits: SpoolLimits) -> Spool {
    Spool::new(folder, limits, Arc::new(SeededRandomness::new(seed)), RecorderMetrics::new()).unwrap()
}

fn usual(folder: &Path, seed: u64) -> Spool {
    spool(folder, seed, SpoolLimits::default())
}

/// A segment of one click, identified by its instant.
fn segment(millis: i64) -> BuiltSegment {
    let mut batch = signpost_app::ports::ClickBatch::default();
    batch.push(
        &signpost_app::ports::Click {
            at: Timestamp::from_unix_millis(millis).unwrap(),
            ..crate::testing::click()
        },
        usize::MAX,
    );
    let randomness = Arc::new(SeededRandomness::default());
    let keys = Arc::new(crate::visitor_keys::VisitorKeys::new(randomness, None));
    let countries = Arc::new(signpost_app::ports::NoCountries);
    let mut recording =
        crate::recording::Recording::new(Box::new(crate::testing::PlainFacts), countries, keys);
    recording.segments(&[batch]).remove(0).segment
}

fn fill(spool: &mut Spool, instants: impl IntoIterator<Item = i64>) {
    for millis in instants {
        spool.put(segment(millis)).unwrap();
    }
}

/// Sends everything, and returns the batches.
fn drain(spool: &mut Spool) -> Vec<EncodedClicks> {
    let mut sent = Vec::new();
    while let Some(waiting) = spool.next().unwrap() {
        sent.push(waiting.batch.clone());
        spool.forget(waiting);
    }
    sent
}

fn instants(sent: &[EncodedClicks]) -> Vec<i64> {
    sent.iter().map(|batch| batch.first.unix_millis()).collect()
}

fn numbers(sent: &[EncodedClicks]) -> Vec<u64> {
    sent.iter().map(|batch| batch.number).collect()
}

fn files(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

/// Leaves the files of a killed process, but not its locks.
fn killed(spool: Spool, folder: &Path) {
    let copies: Vec<_> =
        files(folder).into_iter().map(|name| (fs::read(folder.join(&name)).unwrap(), name)).collect();
    drop(spool);
    for (content, name) in copies {
        fs::write(folder.join(name), content).unwrap();
    }
}

#[test]
fn batches_are_ordered_and_numbered_from_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut spool = usual(folder.path(), 1);
    fill(&mut spool, 1..=3);
    let first = spool.next().unwrap().unwrap();
    assert_eq!(spool.next().unwrap(), Some(first), "a batch comes again until it is forgotten");
    let sent = drain(&mut spool);
    assert_eq!((instants(&sent), numbers(&sent)), (vec![1, 2, 3], vec![1, 2, 3]));
    fill(&mut spool, [4]);
    assert_eq!(numbers(&drain(&mut spool)), [4]);
    assert_eq!(spool.backlog(), Backlog::default());
    spool.close();
    assert_eq!(files(folder.path()), Vec::<String>::new());
}

#[test]
fn r13_next_process_sends_batches_of_a_killed_one_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let mut dead = usual(folder.path(), 1);
    let source = dead.source;
    fill(&mut dead, 1..=3);
    let waiting = dead.next().unwrap().unwrap();
    dead.forget(waiting);
    killed(dead, folder.path());
    let mut next = usual(folder.path(), 2);
    next.adopt();
    fill(&mut next, [10]);
    let sent = drain(&mut next);
    let (old, new): (Vec<_>, Vec<_>) = sent.into_iter().partition(|batch| batch.source == source);
    assert_eq!((instants(&old), numbers(&old)), (vec![2, 3], vec![2, 3]));
    assert_eq!((instants(&new), numbers(&new)), (vec![10], vec![1]));
    next.close();
    assert_eq!(files(folder.path()), Vec::<String>::new());
}

#[test]
fn processes_share_a_folder_without_touching_other_files() {
    let folder = tempfile::tempdir().unwrap();
    let mut spools = [usual(folder.path(), 1), usual(folder.path(), 2)];
    for (spool, millis) in spools.iter_mut().zip([10, 20]) {
        fill(spool, [millis]);
    }
    for (spool, millis) in spools.iter_mut().zip([10, 20]) {
        spool.adopt();
        assert_eq!(instants(&drain(spool)), [millis]);
    }
}

#[test]
fn full_spool_refuses_batches_and_skips_no_number() {
    let folder = tempfile::tempdir().unwrap();
    let mut spool = spool(folder.path(), 1, SpoolLimits { on_disk: 1_000, in_memory: 1_000 });
    let taken = (0..100).take_while(|millis| spool.put(segment(*millis)).is_ok()).count();
    assert!((1..10).contains(&taken), "{taken}");
    assert_eq!(spool.put(segment(1)), Err(SpoolFull));
    assert_eq!(drain(&mut spool).len(), taken);
    fill(&mut spool, [7]);
    assert_eq!(numbers(&drain(&mut spool)), [u64::try_from(taken).unwrap() + 1]);
}

#[test]
fn files_of_dead_processes_count_towards_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let mut dead = usual(folder.path(), 1);
    fill(&mut dead, 0..10);
    killed(dead, folder.path());
    let mut next = spool(folder.path(), 2, SpoolLimits { on_disk: 1_000, in_memory: 1_000 });
    next.adopt();
    assert_eq!(next.put(segment(1)), Err(SpoolFull));
}

/// A file in place of the folder acts like a disk that refuses everything.
#[test]
fn r40_batches_wait_in_memory_without_a_disk() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spool");
    fs::write(&path, "").unwrap();
    let mut spool = usual(&path, 1);
    fill(&mut spool, 1..=3);
    assert_eq!((spool.backlog().batches, spool.backlog().batches_in_memory), (3, 3));
    let waiting = spool.next().unwrap().unwrap();
    assert_eq!(waiting.batch.number, 1);
    fs::remove_file(&path).unwrap();
    spool.failed_at = None;
    fill(&mut spool, [4]);
    assert_eq!((spool.backlog().batches, spool.backlog().batches_in_memory), (4, 0));
    // The batch was in flight from memory. It is sent again, and the store recognizes its number.
    spool.forget(waiting);
    let sent = drain(&mut spool);
    assert_eq!((instants(&sent), numbers(&sent)), (vec![1, 2, 3, 4], vec![1, 2, 3, 4]));
}

#[test]
fn r40_file_that_could_not_grow_is_written_later() {
    let folder = tempfile::tempdir().unwrap();
    let mut spool = usual(folder.path(), 1);
    fill(&mut spool, [1]);
    spool.own.as_mut().unwrap().limit_pages(2);
    let large = || BuiltSegment { data: vec![7; 20_000], ..segment(2) };
    for _ in 0..3 {
        spool.failed_at = None;
        spool.put(large()).unwrap();
    }
    assert_eq!((spool.backlog().batches, spool.backlog().batches_in_memory), (4, 3));
    spool.own.as_mut().unwrap().limit_pages(1_000_000);
    spool.failed_at = None;
    spool.write_memory();
    assert_eq!((spool.backlog().batches, spool.backlog().batches_in_memory), (4, 0));
    assert_eq!(numbers(&drain(&mut spool)), [1, 2, 3, 4]);
}

#[test]
fn r40_batches_in_memory_are_limited() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spool");
    fs::write(&path, "").unwrap();
    let mut spool = spool(&path, 1, SpoolLimits { in_memory: 1_000, ..SpoolLimits::default() });
    let taken = (0..100).take_while(|millis| spool.put(segment(*millis)).is_ok()).count();
    assert!((1..10).contains(&taken), "{taken}");
    assert_eq!(drain(&mut spool).len(), taken);
    assert_eq!(spool.put(segment(1)), Ok(()));
}

#[test]
fn r13_broken_file_is_set_aside() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("0123.spool"), "this is no database, whatever its name says").unwrap();
    let mut spool = usual(folder.path(), 1);
    spool.adopt();
    fill(&mut spool, [1]);
    assert_eq!(instants(&drain(&mut spool)), [1]);
    spool.close();
    assert_eq!(files(folder.path()), ["0123.spool.broken"]);
}

#[test]
fn malformed_batch_is_skipped_and_later_ones_are_sent() {
    let folder = tempfile::tempdir().unwrap();
    let mut dead = usual(folder.path(), 1);
    fill(&mut dead, [1]);
    let rotten = BuiltSegment { data: b"rotten".to_vec(), ..segment(2) };
    dead.put(rotten).unwrap();
    fill(&mut dead, [3]);
    killed(dead, folder.path());
    let mut next = usual(folder.path(), 2);
    next.adopt();
    assert_eq!(instants(&drain(&mut next)), [1, 3]);
}

/// The store will never get the missing batches, so the rest is numbered from 1 again.
#[test]
fn d51_batches_after_a_gap_get_a_new_source() {
    let folder = tempfile::tempdir().unwrap();
    let mut spool = usual(folder.path(), 1);
    fill(&mut spool, 1..=4);
    for _ in 0..2 {
        let waiting = spool.next().unwrap().unwrap();
        spool.forget(waiting);
    }
    let old = spool.source;
    let waiting = spool.next().unwrap().unwrap();
    assert_eq!(waiting.batch.number, 3);
    spool.renumber_from(&waiting).unwrap();
    fill(&mut spool, [5]);
    let sent = drain(&mut spool);
    assert_eq!((instants(&sent), numbers(&sent)), (vec![3, 4, 5], vec![1, 2, 3]));
    assert!(sent.iter().all(|batch| batch.source == spool.source && batch.source != old));
}

#[test]
fn d51_gap_in_a_leftover_renumbers_only_that_leftover() {
    let folder = tempfile::tempdir().unwrap();
    let mut dead = usual(folder.path(), 1);
    fill(&mut dead, 1..=3);
    let (waiting, old) = (dead.next().unwrap().unwrap(), dead.source);
    dead.forget(waiting);
    killed(dead, folder.path());
    let mut next = usual(folder.path(), 2);
    let own = next.source;
    next.adopt();
    let waiting = next.next().unwrap().unwrap();
    next.renumber_from(&waiting).unwrap();
    fill(&mut next, [10]);
    let (new, rest): (Vec<_>, Vec<_>) = drain(&mut next).into_iter().partition(|batch| batch.source == own);
    assert_eq!((instants(&new), instants(&rest), numbers(&rest)), (vec![10], vec![2, 3], vec![1, 2]));
    assert!(rest.iter().all(|batch| batch.source != old));
}

#[test]
fn large_file_shrinks_when_it_is_empty() {
    let folder = tempfile::tempdir().unwrap();
    let mut spool = usual(folder.path(), 1);
    for millis in 0..40 {
        let large = BuiltSegment { data: vec![7; 1024 * 1024], ..segment(millis) };
        spool.put(large).unwrap();
    }
    let on_disk = || {
        let sizes = files(folder.path())
            .into_iter()
            .map(|name| fs::metadata(folder.path().join(name)).unwrap().len());
        sizes.sum::<u64>()
    };
    assert!(on_disk() > 40 * 1024 * 1024);
    assert_eq!(drain(&mut spool).len(), 40);
    assert!(on_disk() < 10 * 1024 * 1024, "{}", on_disk());
}

/// How many batches of [`left_files`] are in the database itself, and in all.
const IN_DATABASE: usize = 30;
const LEFT: usize = 60;

/// The files of a killed process, with some batches already moved from the log to the database.
fn left_files() -> Vec<(String, Vec<u8>)> {
    let folder = tempfile::tempdir().unwrap();
    let mut spool = usual(folder.path(), 1);
    fill(&mut spool, 0..30);
    spool.sync();
    fill(&mut spool, 30..60);
    files(folder.path())
        .into_iter()
        .map(|name| (name.clone(), fs::read(folder.path().join(name)).unwrap()))
        .collect()
}

/// The number of complete transactions in a log, by SQLite's format: a header of 32 bytes, then frames with a
/// header of 24 bytes and a page. Valid frames have the log's salt, and the last frame of a transaction has
/// the size of the database.
fn whole_transactions(log: &[u8]) -> usize {
    let Some(header) = log.first_chunk::<32>() else { return 0 };
    let page = u32::from_be_bytes(*header[8..].first_chunk().unwrap());
    log[32..]
        .chunks_exact(24 + usize::try_from(page).unwrap())
        .take_while(|frame| frame[8..16] == header[16..24])
        .filter(|frame| frame[4..8] != [0; 4])
        .count()
}

/// Starts on the files, one of them truncated to `length` bytes. All readable batches must come out, and the
/// spool must work.
fn start_on_prefix(left: &[(String, Vec<u8>)], cut: &str, length: usize) {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in left {
        let length = if name == cut { length } else { content.len() };
        fs::write(folder.path().join(name), &content[..length]).unwrap();
    }
    let mut spool = usual(folder.path(), 2);
    let own = spool.source;
    spool.adopt();
    fill(&mut spool, [100]);
    let (new, old): (Vec<_>, Vec<_>) = drain(&mut spool).into_iter().partition(|batch| batch.source == own);
    let at = format!("{cut} cut after {length}");
    assert_eq!(instants(&new), [100], "{at}");
    let first: Vec<_> = (0..60).take(old.len()).collect();
    assert_eq!(instants(&old), first, "{at}");
    spool.close();
    if cut.ends_with("-wal") {
        let (_, log) = left.iter().find(|(name, _)| name == cut).unwrap();
        assert_eq!(old.len(), IN_DATABASE + whole_transactions(&log[..length]), "{at}");
    } else if !cut.ends_with("-shm") && old.len() < LEFT {
        let kept = files(folder.path());
        assert!(kept.iter().any(|name| name.ends_with(".spool.broken")), "{at}: {kept:?}");
    }
}

/// A soak tries every third prefix of the database and of its log. Other runs try random ones, and those at
/// the edges.
#[test]
fn r13_spool_starts_on_truncated_files() {
    const SAMPLE: usize = 200;
    let left = left_files();
    let lengths = |content: &[u8]| 0..=content.len();
    let all = left.iter().flat_map(|(name, content)| lengths(content).map(move |length| (name, length)));
    let all: Vec<_> = all.filter(|(name, _)| !name.ends_with("-shm")).collect();
    if std::env::var_os("SIGNPOST_SOAK").is_some() {
        assert!(all.len() / 3 > 10_000, "{}", all.len());
        all.into_iter().step_by(3).for_each(|(name, length)| start_on_prefix(&left, name, length));
        return;
    }
    let randomness = SeededRandomness::new(13);
    for _ in 0..SAMPLE {
        let mut random = [0; 8];
        randomness.fill(&mut random).unwrap();
        let (name, length) = all[usize::from_le_bytes(random) % all.len()];
        start_on_prefix(&left, name, length);
    }
    for (name, content) in &left {
        for length in [0, 1, 31, 32, 99, 100, 511, 512, 4_095, 4_096, content.len() - 1, content.len()] {
            start_on_prefix(&left, name, length);
        }
    }
}
