//! Measures the delays of the machine itself, so that tests do not blame them on the program.

use std::io::{Read, Write};
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

/// Measures how late exchanges over a socket are, which only the machine can delay.
///
/// Like a request to the program, an exchange goes from a client to a thread that reads, to a thread that waits
/// for a timer and answers, and back. The program takes no part: if it did, a hanging program would excuse
/// itself.
pub struct MachineControl {
    is_over: Arc<AtomicBool>,
    exchanges: Vec<JoinHandle<Vec<Duration>>>,
}

/// How late exchanges were.
#[derive(Debug, Clone, Copy)]
pub struct Lateness {
    pub median: Duration,
    pub longest: Duration,
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
        Self { is_over, exchanges }
    }

    /// Ends the measurement, and returns the result.
    pub fn lateness(mut self) -> Lateness {
        self.is_over.store(true, Ordering::Relaxed);
        let exchanges = std::mem::take(&mut self.exchanges).into_iter();
        let mut late: Vec<Duration> = exchanges.flat_map(|exchanges| exchanges.join().unwrap()).collect();
        late.sort_unstable();
        Lateness { median: late[late.len() / 2], longest: late[late.len() - 1] }
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
