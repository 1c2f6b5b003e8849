//! Keeps the machine busy.

use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use anyhow::Result;

/// What one turn of the disk's load writes and syncs, in bytes.
const WRITTEN: usize = 16 * 1024 * 1024;

/// Threads that load every core and the disk until it is dropped.
pub(crate) struct Load {
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    /// Starts the load. It writes to a temporary file in `folder`.
    pub(crate) fn start(folder: &Path) -> Result<Self> {
        let is_over = Arc::new(AtomicBool::new(false));
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let mut threads: Vec<_> = (0..cores)
            .map(|_| {
                let is_over = Arc::clone(&is_over);
                thread::spawn(move || {
                    while !is_over.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                })
            })
            .collect();
        let (mut file, until) = (tempfile::tempfile_in(folder)?, Arc::clone(&is_over));
        threads.push(thread::spawn(move || {
            let data = vec![1; WRITTEN];
            // A full disk is load enough.
            while !until.load(Ordering::Relaxed) && write(&mut file, &data).is_ok() {}
        }));
        Ok(Self { is_over, threads })
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // It cannot panic.
            let _ = thread.join();
        }
    }
}

fn write(file: &mut File, data: &[u8]) -> std::io::Result<()> {
    file.rewind()?;
    file.write_all(data)?;
    file.sync_all()
}
