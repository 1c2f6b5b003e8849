//! The names and records of the name server.

use std::collections::BTreeMap;

use super::behaviour::{Behaviour, Recursion};
use super::records::{CNAME, Record};

/// The number of aliases after which a resolver gives up.
const MAX_CHAIN: usize = 50;

#[derive(Debug, Default)]
pub(super) struct Zone {
    records: BTreeMap<String, Vec<Record>>,
    pub(super) behaviour: Behaviour,
    pub(super) behaviours: BTreeMap<String, Behaviour>,
    pub(super) recursion: Recursion,
}

/// The result of a look-up.
pub(super) struct Known {
    /// Records with their names, aliases first.
    pub(super) records: Vec<(String, Record)>,
    /// Whether the name at the end exists.
    pub(super) exists: bool,
}

/// The normalized form of a name.
pub(super) fn key(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

impl Zone {
    pub(super) fn set(&mut self, name: &str, records: Vec<Record>) {
        self.records.insert(key(name), records);
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.records.remove(&key(name));
    }

    pub(super) fn behaviour_for(&self, name: &str) -> Behaviour {
        self.behaviours.get(name).copied().unwrap_or(self.behaviour)
    }

    /// Looks up records of a type at `name`. With several aliases at one name, the result has all of them and follows the
    /// first. With an alias beside other records, it has all that match.
    pub(super) fn find(&self, name: &str, wanted: u16) -> Known {
        let mut known = Known { records: Vec::new(), exists: self.exists(name) };
        let mut seen = Vec::new();
        let mut end = name.to_owned();
        loop {
            let fitting = self.records.get(&end).into_iter().flatten();
            let fitting: Vec<&Record> =
                fitting.filter(|record| [wanted, CNAME].contains(&record.type_number())).collect();
            let aliases = fitting.iter().filter_map(|record| match record {
                Record::Cname(target) => Some(key(target)),
                Record::A(_) | Record::Aaaa(_) | Record::Txt(_) | Record::Caa(..) => None,
            });
            let next = aliases.into_iter().next();
            known.records.extend(fitting.iter().map(|record| (end.clone(), (*record).clone())));
            known.exists = self.exists(&end);
            seen.push(end);
            match next {
                Some(next) if !seen.contains(&next) && seen.len() <= MAX_CHAIN => end = next,
                _ => return known,
            }
            if self.recursion == Recursion::FirstAlias {
                // Such a server knows nothing beyond the alias; the alias itself exists.
                known.exists = true;
                return known;
            }
        }
    }

    /// A name also exists if there is a name below it.
    fn exists(&self, name: &str) -> bool {
        let is_above = |below: &str| below.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'));
        self.records.keys().any(|known| known == name || is_above(known))
    }
}
