//! The facts of the agents that a worker saw last.

use std::cell::RefCell;
use std::hash::{BuildHasher as _, RandomState};
use std::rc::Rc;

use quick_cache::unsync::Cache;
use signpost_app::ports::{AgentFacts, AgentReader};
use signpost_domain::visitor_headers::examined;

/// Keeps facts by the hash of their agent. The hash has a random key, so that nobody can make an agent with the hash of another.
pub(crate) struct AgentCache {
    /// The most agents.
    capacity: usize,
    hashes: RandomState,
    /// Made at the first use: most installations have no rules that ask for agents.
    facts: RefCell<Option<Cache<u64, Rc<AgentFacts>>>>,
}

impl AgentCache {
    /// The most agents that a worker keeps: more than most days have. A flood of agents that are seen once evicts no frequent ones.
    pub(crate) const MOST_OF_A_WORKER: usize = 4_096;

    /// Keeps at most so many agents.
    pub(crate) fn new(capacity: usize) -> Self {
        Self { capacity, hashes: RandomState::new(), facts: RefCell::new(None) }
    }

    /// The facts of an agent, from `reader` if they are not known.
    pub(crate) fn facts(&self, user_agent: &[u8], reader: &dyn AgentReader) -> Rc<AgentFacts> {
        let agent = examined(user_agent);
        let hash = self.hashes.hash_one(agent);
        let mut cache = self.facts.borrow_mut();
        let cache = cache.get_or_insert_with(|| Cache::new(self.capacity));
        if let Some(known) = cache.get(&hash) {
            return Rc::clone(known);
        }
        let facts = Rc::new(reader.facts(agent));
        cache.insert(hash, Rc::clone(&facts));
        facts
    }
}

#[cfg(test)]
mod tests {
    use signpost_memory::FixedAgents;

    use super::*;

    fn phone() -> AgentFacts {
        AgentFacts { device: None, os: "iOS".to_owned(), browser: String::new() }
    }

    #[test]
    fn d133_an_agent_is_read_once() {
        let (cache, reader) = (AgentCache::new(AgentCache::MOST_OF_A_WORKER), FixedAgents::default());
        reader.put(b"phone", phone());
        for _ in 0..3 {
            assert_eq!(*cache.facts(b"phone", &reader), phone());
            assert_eq!(*cache.facts(b"other", &reader), AgentFacts::default());
        }
        assert_eq!(reader.read(), 2);
        let long = vec![b'x'; 100_000];
        cache.facts(&long, &reader);
        cache.facts(&long[1..], &reader);
        assert_eq!(reader.read(), 3, "only the beginning of an agent counts");
    }

    #[test]
    fn d133_a_flood_of_agents_stays_within_the_bound_and_keeps_frequent_ones() {
        let (cache, reader) = (AgentCache::new(AgentCache::MOST_OF_A_WORKER), FixedAgents::default());
        reader.put(b"phone", phone());
        for number in 0..10 * AgentCache::MOST_OF_A_WORKER {
            assert_eq!(*cache.facts(b"phone", &reader), phone());
            cache.facts(number.to_string().as_bytes(), &reader);
        }
        assert!(cache.facts.borrow().as_ref().unwrap().len() <= AgentCache::MOST_OF_A_WORKER);
        assert!(reader.read() < 10 * 4_096 + 100, "{}", reader.read());
    }
    #[test]
    fn d133_a_cache_for_one_agent_reads_every_agent() {
        let (cache, reader) = (AgentCache::new(1), FixedAgents::default());
        reader.put(b"phone", phone());
        for _ in 0..3 {
            assert_eq!(*cache.facts(b"phone", &reader), phone());
            assert_eq!(*cache.facts(b"other", &reader), AgentFacts::default());
        }
        assert!(cache.facts.borrow().as_ref().unwrap().len() <= 1);
    }
}
