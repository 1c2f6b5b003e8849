//! Measures the delays of the machine itself, so that tests do not blame them on the program.

use std::io::{Read, Seek, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long the server of an exchange sleeps before it answers, because the program waits for timers, too.
const SLEEP: Duration = Duration::from_millis(5);

/// How many exchanges run at any time: a stall of the machine may affect one thread and not another.
const AT_ONCE: usize = 3;

/// The pause between two writes to the disk. Without it the measurement would be a load of its own, and a stall that
/// matters to a test lasts longer.
const BETWEEN_WRITES: Duration = Duration::from_millis(50);

/// An answer of the program passes more threads than an exchange does, and each may wait for a core.
const EXCHANGES_PER_ANSWER: u32 = 3;

/// A click that the program records waits for the disk twice at most: on its way to the spool, and for a write of
/// others before it.
const WRITES_PER_CLICK: u32 = 2;

/// Measures how late exchanges over a socket are, and how long writes to the disk take, which only the machine can
/// delay.
///
/// Like a request to the program, an exchange goes from a client to a thread that reads, to a thread that waits
/// for a timer and answers, and back. The program takes no part: if it did, a hanging program would excuse
/// itself.
pub struct MachineControl {
    is_over: Arc<AtomicBool>,
    exchanges: Vec<JoinHandle<Vec<Duration>>>,
    disk: Option<JoinHandle<Duration>>,
}

/// How late the machine was.
#[derive(Debug, Clone, Copy)]
pub struct Lateness {
    /// The delay of the median exchange, and of the slowest one.
    median: Duration,
    longest: Duration,
    /// The time of the slowest write to the disk.
    longest_write: Duration,
}

impl Lateness {
    /// How much of the time of the slowest answer the machine may have caused.
    pub fn of_slowest_answer(&self) -> Duration {
        EXCHANGES_PER_ANSWER * self.longest
    }

    /// How much of the time of the median answer the machine may have caused.
    pub fn of_median_answer(&self) -> Duration {
        EXCHANGES_PER_ANSWER * self.median
    }

    /// How much later than promised the machine may have let a click reach the disk.
    pub fn of_slowest_click(&self) -> Duration {
        self.of_slowest_answer() + WRITES_PER_CLICK * self.longest_write
    }
}

impl MachineControl {
    /// Starts the measurement.
    pub fn start() -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let exchanges = (0..AT_ONCE)
            .map(|_| {
                let (client, until) = (serve(), Arc::clone(&is_over));
                std::thread::spawn(move || exchange(client, &until))
            })
            .collect();
        let until = Arc::clone(&is_over);
        let disk = Some(std::thread::spawn(move || write_to_disk(&until)));
        Self { is_over, exchanges, disk }
    }

    /// Ends the measurement, and returns the result.
    pub fn lateness(mut self) -> Lateness {
        self.is_over.store(true, Ordering::Relaxed);
        let exchanges = std::mem::take(&mut self.exchanges).into_iter();
        let mut late: Vec<Duration> = exchanges.flat_map(|exchanges| exchanges.join().unwrap()).collect();
        late.sort_unstable();
        let longest_write = self.disk.take().unwrap().join().unwrap();
        Lateness { median: late[late.len() / 2], longest: late[late.len() - 1], longest_write }
    }
}
impl Drop for MachineControl {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

/// The client's end of a connection whose server answers each byte.
fn serve() -> TcpStream {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (mut reader, _) = listener.accept().unwrap();
    let writer = reader.try_clone().unwrap();
    let (arrivals, arrived) = channel();
    std::thread::spawn(move || answer(writer, &arrived));
    std::thread::spawn(move || {
        let mut byte = [0];
        while reader.read_exact(&mut byte).is_ok() && arrivals.send(()).is_ok() {}
    });
    client
}

fn answer(mut writer: TcpStream, arrived: &Receiver<()>) {
    while arrived.recv().is_ok() {
        std::thread::sleep(SLEEP);
        if writer.write_all(&[0]).is_err() {
            return;
        }
    }
}

/// How late each answer came, after the sleep; at least one.
fn exchange(mut client: TcpStream, is_over: &AtomicBool) -> Vec<Duration> {
    let mut late = Vec::new();
    loop {
        let started = Instant::now();
        client.write_all(&[0]).unwrap();
        client.read_exact(&mut [0]).unwrap();
        late.push(started.elapsed().saturating_sub(SLEEP));
        if is_over.load(Ordering::Relaxed) {
            return late;
        }
    }
}

/// Writes a page to a file again and again, each time until it is on the disk. Returns the longest time; at least one
/// write is measured. The file is where the folders of programs are, so it is on the same disk.
fn write_to_disk(is_over: &AtomicBool) -> Duration {
    let folder = tempfile::tempdir().unwrap();
    let mut file = std::fs::File::create(folder.path().join("page")).unwrap();
    let mut longest = Duration::ZERO;
    loop {
        let started = Instant::now();
        file.rewind().unwrap();
        file.write_all(&[0; 4096]).unwrap();
        file.sync_all().unwrap();
        longest = longest.max(started.elapsed());
        if is_over.load(Ordering::Relaxed) {
            return longest;
        }
        std::thread::sleep(BETWEEN_WRITES);
    }
}
