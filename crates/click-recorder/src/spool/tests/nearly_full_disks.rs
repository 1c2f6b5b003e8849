//! Disks with less free space than clicks leave to others.

use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use signpost_click_store::DiskSpace;

/// A disk of 64 MiB with this many free bytes.
fn with_free_bytes(spool: &mut Spool, free: &Arc<AtomicU64>) {
    let free = Arc::clone(free);
    spool.free_space = FreeSpace::new(move |_| {
        Ok(DiskSpace { total: 64 * 1024 * 1024, free: free.load(Ordering::Relaxed) })
    });
}

/// Lets the spool look at the disk again, and try to write.
fn await_next_look(spool: &mut Spool, free: &Arc<AtomicU64>) {
    with_free_bytes(spool, free);
    spool.failed_at = None;
}

#[test]
fn r40_clicks_leave_an_eighth_of_the_disk_free() {
    const RESERVE: u64 = 8 * 1024 * 1024;
    let folder = tempfile::tempdir().unwrap();
    let limits = SpoolLimits { in_memory: 1_000, ..SpoolLimits::default() };
    let mut spool = spool(folder.path(), 1, limits);
    let free = Arc::new(AtomicU64::new(RESERVE));
    with_free_bytes(&mut spool, &free);
    fill(&mut spool, 1..=2);
    assert_eq!(spool.backlog().batches_in_memory, 0);
    free.store(RESERVE - 1, Ordering::Relaxed);
    await_next_look(&mut spool, &free);
    let taken = (3..100).take_while(|millis| spool.put(segment(*millis)).is_ok()).count();
    assert!((1..10).contains(&taken), "{taken}");
    assert_eq!(spool.backlog().batches_in_memory, u64::try_from(taken).unwrap());
    await_next_look(&mut spool, &free);
    spool.write_memory();
    assert_eq!(spool.put(segment(1)), Err(SpoolFull));
    // What is on the disk and in memory still reaches the store, or the disk once it has room.
    free.store(RESERVE, Ordering::Relaxed);
    await_next_look(&mut spool, &free);
    spool.write_memory();
    assert_eq!(spool.backlog().batches_in_memory, 0);
    assert_eq!(drain(&mut spool).len(), 2 + taken);
}

#[test]
fn r40_free_space_is_looked_at_ten_times_a_second() {
    let folder = tempfile::tempdir().unwrap();
    let mut spool = usual(folder.path(), 1);
    let looks = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&looks);
    spool.free_space = FreeSpace::new(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        Ok(DiskSpace { total: 8, free: 8 })
    });
    let begun = Instant::now();
    fill(&mut spool, 1..=50);
    let most = begun.elapsed().as_millis() / 100 + 1;
    let looks = looks.load(Ordering::Relaxed);
    assert!((1..=most).contains(&u128::from(looks)), "{looks} of {most}");
}
