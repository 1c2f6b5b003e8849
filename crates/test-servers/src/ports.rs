//! Free ports.

use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// The first port. The range is below the ephemeral ports: an outgoing connection could take the port of a stopped server,
/// or on some systems connect to itself.
const FIRST: u16 = 15_000;
/// The number of ports in a block. A block belongs to one process.
const BLOCK: u16 = 150;
/// The number of blocks in the range.
const BLOCKS: u16 = 100;

/// The ports of this process.
struct Ports {
    /// Listeners on the first port of each block of this process. While one exists, no other process takes the block, and
    /// the system closes it when the process ends, however that happens.
    locks: Vec<TcpListener>,
    /// The ports of the latest block that were not given out.
    left: Range<u16>,
}

/// A port of the loopback interface that is free now. This process never gets it again, and no other process of tests gets
/// it, so nothing listens there after the server has stopped. An unrelated program may still take it before a server
/// binds it, so callers retry.
pub(crate) fn free_port() -> u16 {
    static PORTS: Mutex<Ports> = Mutex::new(Ports { locks: Vec::new(), left: 0..0 });
    PORTS.lock().unwrap_or_else(PoisonError::into_inner).next_free()
}

impl Ports {
    fn next_free(&mut self) -> u16 {
        loop {
            match self.left.next() {
                Some(port) if listen(port).is_some() => return port,
                Some(_) => {}
                None => self.take_block(),
            }
        }
    }

    fn take_block(&mut self) {
        // Processes that run side by side look at different blocks first.
        let begin = u16::try_from(std::process::id() % u32::from(BLOCKS)).unwrap();
        let (lock, first) = (0..BLOCKS)
            .map(|number| FIRST + (begin + number) % BLOCKS * BLOCK)
            .find_map(|first| Some((listen(first)?, first)))
            .expect("other processes have all blocks of ports");
        self.locks.push(lock);
        self.left = first + 1..first + BLOCK;
    }
}

fn listen(port: u16) -> Option<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).ok()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{BLOCK, free_port};

    #[test]
    fn a_port_is_given_out_once() {
        let count = usize::from(BLOCK) * 2;
        let ports: BTreeSet<u16> = (0..count).map(|_| free_port()).collect();
        assert_eq!(ports.len(), count);
    }
}
