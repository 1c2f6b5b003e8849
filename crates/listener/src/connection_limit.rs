//! Limits the number of connections, or of those in a handshake: of all peers and of one.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::options::Proxies;

/// From this part of the connections on, in quarters, the idle time is short.
const CROWDED_QUARTERS: usize = 3;

/// The idle time is divided by this while the connections are crowded.
const CROWDED_IDLE: u32 = 8;

/// Why no permit is issued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Full {
    /// All connections are taken.
    Limit,
    /// The peer holds its share of them.
    Share,
}

/// The limit of a listener's connections, or of its handshakes.
pub(crate) struct ConnectionLimit {
    most: usize,
    /// How many of them one peer may hold that is no proxy.
    share: usize,
    taken: AtomicUsize,
    proxies: Proxies,
    /// How many connections each peer holds, without proxies.
    of_peers: Mutex<HashMap<IpAddr, usize>>,
    /// The gauge of open connections.
    open: metrics::Gauge,
}

impl ConnectionLimit {
    pub(crate) fn new(most: usize, share: usize, proxies: Proxies, open: metrics::Gauge) -> Arc<Self> {
        Arc::new(Self { most, share, taken: AtomicUsize::new(0), proxies, of_peers: Mutex::default(), open })
    }

    pub(crate) const fn most(&self) -> usize {
        self.most
    }

    /// Issues a permit, if the limits allow.
    pub(crate) fn take(self: &Arc<Self>, peer: IpAddr) -> Result<ConnectionPermit, Full> {
        let peer = self.take_share(peer)?;
        let taken = self.taken.fetch_update(Ordering::AcqRel, Ordering::Acquire, |taken| {
            (taken < self.most).then_some(taken + 1)
        });
        if taken.is_err() {
            self.give_back_share(peer);
            return Err(Full::Limit);
        }
        self.open.increment(1.0);
        Ok(ConnectionPermit { limit: Arc::clone(self), peer })
    }

    /// Counts one more connection of a peer. Returns the network that it counts for; `None` for a proxy.
    fn take_share(&self, peer: IpAddr) -> Result<Option<IpAddr>, Full> {
        if self.proxies.contain(peer) {
            return Ok(None);
        }
        let network = network_of(peer);
        let mut of_peers = self.of_peers();
        let held = of_peers.entry(network).or_default();
        if *held >= self.share {
            return Err(Full::Share);
        }
        *held += 1;
        Ok(Some(network))
    }

    fn give_back_share(&self, peer: Option<IpAddr>) {
        let Some(peer) = peer else { return };
        let mut of_peers = self.of_peers();
        if let Some(held) = of_peers.get_mut(&peer) {
            *held = held.saturating_sub(1);
            if *held == 0 {
                of_peers.remove(&peer);
            }
        }
    }

    /// The lock cannot be poisoned: nothing panics while it is held.
    fn of_peers(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.of_peers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The addresses that count as one peer: a customer of a provider usually has a whole /64 network.
pub(crate) fn network_of(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        address @ IpAddr::V4(_) => address,
    }
}

/// The permit of one connection, held until dropped.
pub(crate) struct ConnectionPermit {
    limit: Arc<ConnectionLimit>,
    /// `None` for a proxy.
    peer: Option<IpAddr>,
}

impl ConnectionPermit {
    /// Counts the connection for another peer from now on.
    ///
    /// # Errors
    /// The peer holds its share, and the permit stays what it was.
    pub(crate) fn move_to(&mut self, peer: IpAddr) -> Result<(), Full> {
        let peer = self.limit.take_share(peer)?;
        self.limit.give_back_share(std::mem::replace(&mut self.peer, peer));
        Ok(())
    }

    /// How long the connection may be idle, if that is `idle` while there is room for many more.
    pub(crate) fn idle_time(&self, idle: Duration) -> Duration {
        let is_crowded = self.limit.taken.load(Ordering::Relaxed) * 4 >= self.limit.most * CROWDED_QUARTERS;
        // A proxy must close its connections first: a request on one that was just closed fails.
        if is_crowded && self.peer.is_some() { idle / CROWDED_IDLE } else { idle }
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        self.limit.give_back_share(self.peer);
        self.limit.taken.fetch_sub(1, Ordering::AcqRel);
        self.limit.open.decrement(1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(most: usize, proxies: Proxies) -> Arc<ConnectionLimit> {
        ConnectionLimit::new(most, most.div_ceil(2), proxies, metrics::Gauge::noop())
    }

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn r25_permits_never_exceed_the_limit() {
        let limit = limit(2, Proxies::none());
        let (first, second) = (limit.take(address("192.0.2.1")), limit.take(address("192.0.2.2")));
        assert!(first.is_ok() && second.is_ok());
        assert_eq!(limit.take(address("192.0.2.3")).err(), Some(Full::Limit));
        drop(first);
        assert!(limit.take(address("192.0.2.3")).is_ok());
    }

    #[test]
    fn r25_one_address_holds_half_of_the_connections_at_most() {
        let limit = limit(4, Proxies::new(|peer| peer == address("192.0.2.9")));
        for same in [["192.0.2.1", "::ffff:192.0.2.1"], ["2001:db8::1", "2001:db8::ffff:0:0:1"]] {
            let mut held: Vec<_> = same.iter().map(|peer| limit.take(address(peer)).unwrap()).collect();
            assert_eq!(limit.take(address(same[0])).err(), Some(Full::Share));
            held.pop();
            held.push(limit.take(address(same[1])).unwrap());
            assert!(limit.take(address("2001:db8:0:1::1")).is_ok(), "another network");
        }
        assert!(limit.of_peers().is_empty(), "nothing stays of connections that ended");
        let proxied: Vec<_> = (0..4).map(|_| limit.take(address("192.0.2.9")).unwrap()).collect();
        assert_eq!(limit.take(address("192.0.2.1")).err(), Some(Full::Limit));
        assert_eq!(limit.take(address("192.0.2.9")).err(), Some(Full::Limit));
        assert!(limit.of_peers().is_empty());
        drop(proxied);
    }

    #[test]
    fn d197_a_permit_moves_from_the_balancer_to_its_client() {
        let [balancer, client] = ["192.0.2.9", "192.0.2.1"].map(address);
        let limit = limit(4, Proxies::new(move |peer| peer == balancer));
        let mut permits: Vec<_> = (0..4).map(|_| limit.take(balancer).unwrap()).collect();
        let moved: Vec<_> = permits.iter_mut().map(|permit| permit.move_to(client)).collect();
        assert_eq!(moved, [Ok(()), Ok(()), Err(Full::Share), Err(Full::Share)]);
        assert_eq!(limit.take(balancer).err(), Some(Full::Limit), "a move is no second connection");
        drop(permits);
        assert!(limit.of_peers().is_empty());
        assert_eq!(limit.taken.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn r25_idle_time_is_short_while_connections_are_crowded() {
        let (limit, minute) =
            (limit(4, Proxies::new(|peer| peer == address("192.0.2.9"))), Duration::from_mins(1));
        let mut held = Vec::new();
        for (peer, expected) in
            [("192.0.2.1", minute), ("192.0.2.1", minute), ("192.0.2.2", minute / 8), ("192.0.2.9", minute)]
        {
            let permit = limit.take(address(peer)).unwrap();
            assert_eq!(permit.idle_time(minute), expected, "{peer}");
            held.push(permit);
        }
    }
}
