//! A fake DNS in memory.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use signpost_app::ports::{DnsProvider, DnsUnavailable};
use signpost_domain::{CaaRecord, HostResolution, Hostname, TextResolution};
use tokio::sync::watch;

/// DNS records as a test sets them (D39, D42). No name exists at first. Names are given without the trailing dot, in any
/// case.
///
/// A look-up is one call of the port. By its name, it can be made to fail ([`set_unavailable`](Self::set_unavailable)), to
/// wait ([`hold`](Self::hold)) or to panic ([`set_panicking`](Self::set_panicking)).
#[derive(Debug, Default)]
pub struct FakeDns {
    state: Mutex<State>,
    /// The number of look-ups of each name that have started.
    lookups: watch::Sender<HashMap<String, usize>>,
}

#[derive(Debug, Default)]
struct State {
    names: HashMap<String, Records>,
    unavailable: HashSet<String>,
    is_unavailable: bool,
    panicking: HashSet<String>,
    held: HashMap<String, watch::Receiver<()>>,
}

#[derive(Debug, Default)]
struct Records {
    texts: Vec<String>,
    addresses: BTreeSet<IpAddr>,
    caa: Vec<CaaRecord>,
    alias: Option<String>,
}

/// Look-ups of its name wait while this value exists; see [`FakeDns::hold`].
#[derive(Debug)]
#[must_use = "dropping it releases the look-ups"]
pub struct HeldLookups {
    _open: watch::Sender<()>,
}

impl FakeDns {
    /// A DNS without names.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives `name` exactly these `TXT` records; its addresses stay.
    pub fn set_texts(&self, name: &str, texts: impl IntoIterator<Item = impl Into<String>>) {
        self.state().records(name).texts = texts.into_iter().map(Into::into).collect();
    }

    /// Gives `name` exactly these addresses and no alias; its texts stay.
    pub fn set_addresses(&self, name: &str, addresses: impl IntoIterator<Item = IpAddr>) {
        let mut state = self.state();
        let records = state.records(name);
        records.alias = None;
        records.addresses = addresses.into_iter().collect();
    }

    /// Gives `name` exactly these `CAA` records; its other records stay.
    pub fn set_caa(&self, name: &str, records: impl IntoIterator<Item = CaaRecord>) {
        self.state().records(name).caa = records.into_iter().collect();
    }

    /// Makes `name` an alias of `target`, without other records.
    pub fn set_alias(&self, name: &str, target: &str) {
        *self.state().records(name) = Records { alias: Some(key(target)), ..Records::default() };
    }

    /// Removes `name`.
    pub fn remove(&self, name: &str) {
        self.state().names.remove(&key(name));
    }

    /// Makes every look-up fail with [`DnsUnavailable`], or work again.
    pub fn set_unavailable(&self, is_unavailable: bool) {
        self.state().is_unavailable = is_unavailable;
    }

    /// Makes look-ups of `name` fail, or work again. Look-ups that lead through it do not fail.
    pub fn set_name_unavailable(&self, name: &str, is_unavailable: bool) {
        set(&mut self.state().unavailable, name, is_unavailable);
    }

    /// Makes look-ups of `name` panic, or work again.
    pub fn set_panicking(&self, name: &str, is_panicking: bool) {
        set(&mut self.state().panicking, name, is_panicking);
    }

    /// Makes look-ups of `name` wait until the returned value is dropped; then they return the records of that moment.
    /// [`looked_up`](Self::looked_up) tells when one waits. Of two holds on one name only the second holds.
    pub fn hold(&self, name: &str) -> HeldLookups {
        let (open, gate) = watch::channel(());
        self.state().held.insert(key(name), gate);
        HeldLookups { _open: open }
    }

    /// How many look-ups of `name` have started, including those that failed, wait or panicked.
    #[must_use]
    pub fn lookups(&self, name: &str) -> usize {
        self.lookups.borrow().get(&key(name)).copied().unwrap_or(0)
    }

    /// How many look-ups have started in all.
    #[must_use]
    pub fn all_lookups(&self) -> usize {
        self.lookups.borrow().values().sum()
    }

    /// Returns once this many look-ups of `name` have started. It waits forever if they do not.
    pub async fn looked_up(&self, name: &str, times: usize) {
        let name = key(name);
        let mut lookups = self.lookups.subscribe();
        let have_begun = |of: &HashMap<String, usize>| of.get(&name).copied().unwrap_or(0) >= times;
        // The other end lives as long as this one, so waiting cannot fail.
        let _ = lookups.wait_for(have_begun).await;
    }

    /// What happens before a look-up of `name` reads anything.
    async fn begin(&self, name: &str) -> Result<(), DnsUnavailable> {
        let (gate, is_panicking) = {
            let state = self.state();
            (state.held.get(name).cloned(), state.panicking.contains(name))
        };
        self.lookups.send_modify(|lookups| {
            let count = lookups.entry(name.to_owned()).or_insert(0);
            *count = count.saturating_add(1);
        });
        if is_panicking {
            ask_for_panic(name);
        }
        if let Some(mut gate) = gate {
            // Nothing is ever sent: this ends when the other end is dropped.
            while gate.changed().await.is_ok() {}
        }
        let state = self.state();
        if state.is_unavailable || state.unavailable.contains(name) {
            return Err(DnsUnavailable { reason: "DNS is switched off".to_owned() });
        }
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[expect(clippy::panic, reason = "a test has requested it")]
fn ask_for_panic(name: &str) {
    panic!("a look-up of {name} panics on request");
}

fn key(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

fn set(names: &mut HashSet<String>, name: &str, is_in: bool) {
    if is_in {
        names.insert(key(name));
    } else {
        names.remove(&key(name));
    }
}

impl State {
    fn records(&mut self, name: &str) -> &mut Records {
        self.names.entry(key(name)).or_default()
    }

    /// The chain of aliases from `name`, and the records at its end: none if the chain is too long or circular.
    fn follow(&self, name: &str) -> (Vec<String>, Option<&Records>) {
        let mut chain: Vec<String> = Vec::new();
        loop {
            let end = chain.last().map_or(name, String::as_str);
            let records = self.names.get(end);
            let Some(target) = records.and_then(|records| records.alias.as_ref()) else {
                return (chain, records);
            };
            let is_circle = target == name || chain.contains(target);
            if is_circle || chain.len() >= HostResolution::MAX_CHAIN {
                return (chain, None);
            }
            chain.push(target.clone());
        }
    }
}

#[async_trait]
impl DnsProvider for FakeDns {
    async fn txt_records(&self, name: &str) -> Result<TextResolution, DnsUnavailable> {
        let name = key(name);
        self.begin(&name).await?;
        let state = self.state();
        let (chain, end) = state.follow(&name);
        Ok(TextResolution { chain, texts: end.map(|records| records.texts.clone()).unwrap_or_default() })
    }

    async fn resolution(&self, hostname: &Hostname) -> Result<HostResolution, DnsUnavailable> {
        let name = key(hostname.as_str());
        self.begin(&name).await?;
        let state = self.state();
        let (chain, end) = state.follow(&name);
        let addresses = end.map(|records| records.addresses.clone()).unwrap_or_default();
        Ok(HostResolution { chain, addresses })
    }

    async fn caa_records(&self, name: &str) -> Result<Vec<CaaRecord>, DnsUnavailable> {
        let name = key(name);
        self.begin(&name).await?;
        let state = self.state();
        let (_, end) = state.follow(&name);
        Ok(end.map(|records| records.caa.clone()).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

    use std::sync::Arc;

    use signpost_app::ports::DnsProvider as _;
    use signpost_domain::TextResolution;

    use super::FakeDns;

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().build().unwrap()
    }

    #[test]
    fn held_look_up_waits_and_returns_the_records_of_its_release() {
        runtime().block_on(async {
            let dns = Arc::new(FakeDns::new());
            let held = dns.hold("Www.customer.com");
            let asking = dns.clone();
            let lookup = tokio::spawn(async move { asking.txt_records("www.customer.com").await });
            dns.looked_up("www.customer.com", 1).await;
            assert_eq!(dns.txt_records("another.customer.com").await, Ok(TextResolution::default()));
            assert!(!lookup.is_finished());
            dns.set_texts("www.customer.com", ["late"]);
            drop(held);
            let late = TextResolution { chain: Vec::new(), texts: vec!["late".to_owned()] };
            assert_eq!(lookup.await.unwrap(), Ok(late.clone()));
            assert_eq!(dns.txt_records("www.customer.com").await, Ok(late));
            assert_eq!((dns.lookups("www.customer.com"), dns.all_lookups()), (2, 3));
        });
    }

    #[test]
    fn look_ups_panic_or_fail_only_for_their_own_name() {
        runtime().block_on(async {
            let dns = Arc::new(FakeDns::new());
            dns.set_panicking("bad.customer.com", true);
            dns.set_name_unavailable("away.customer.com", true);
            let asking = dns.clone();
            let panicked = tokio::spawn(async move { asking.txt_records("bad.customer.com").await }).await;
            assert!(panicked.unwrap_err().is_panic());
            dns.txt_records("away.customer.com").await.unwrap_err();
            assert_eq!(dns.txt_records("good.customer.com").await, Ok(TextResolution::default()));
            dns.set_panicking("bad.customer.com", false);
            dns.set_name_unavailable("away.customer.com", false);
            for name in ["bad.customer.com", "away.customer.com"] {
                assert_eq!(dns.txt_records(name).await, Ok(TextResolution::default()));
            }
        });
    }
}
