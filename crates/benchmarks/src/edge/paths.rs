//! The paths of visits, and their order.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::scenery::{LANDING, SPECIAL, path_of};
use super::visits::Visits;
use crate::link_features::LinkFeature;
use crate::random::Random;

/// The number of visited links in cases that do not visit all.
const FEW: u32 = 1_000;

/// The number of visits before the sequence repeats.
const DRAWS: u32 = 100_000;

/// The exponent `s` of the Zipf distribution: the first link gets `2^s` times as many visits as the second.
const SKEW: f64 = 1.1;

/// A query, of which links forward all but the parameter that their target has.
const QUERY: &str = "?utm_source=mail&gclid=EAIaIQobChMI&ref=a[0]";

/// Paths of links, in files of a folder.
pub(super) struct Paths {
    folder: PathBuf,
    links: u32,
}

impl Paths {
    pub(super) fn new(folder: &Path, links: u32) -> Self {
        Self { folder: folder.to_owned(), links }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// A thousand links, each equally often.
    pub(super) fn few(&self) -> Result<Visits> {
        let mut random = Random::seeded(1);
        let few: Vec<String> = (0..FEW).map(|_| path_of(random.below(self.links))).collect();
        self.any_of("few", &few)
    }

    /// The links with dates, each equally often.
    pub(super) fn dated(&self) -> Result<Visits> {
        self.special("dated", LinkFeature::Dated, "")
    }

    /// A thousand links with a query, which they ignore.
    pub(super) fn few_with_query(&self) -> Result<Visits> {
        let mut random = Random::seeded(1);
        let few: Vec<String> =
            (0..FEW).map(|_| format!("{}{QUERY}", path_of(random.below(self.links)))).collect();
        self.any_of("few-with-query", &few)
    }

    /// The links that forward queries, with a query, each equally often.
    pub(super) fn forwarding(&self) -> Result<Visits> {
        self.special("forwarding", LinkFeature::Forwarding, QUERY)
    }

    /// The links with twenty rules that fail, with a query, each equally often.
    pub(super) fn ruled(&self) -> Result<Visits> {
        self.special("ruled", LinkFeature::Ruled, QUERY)
    }

    /// The links with a split, each equally often.
    pub(super) fn splitting(&self) -> Result<Visits> {
        self.special("splitting", LinkFeature::Splitting, "")
    }

    /// A thousand unknown paths.
    pub(super) fn unknown(&self) -> Result<Visits> {
        let unknown: Vec<String> = (0..FEW).map(|number| format!("/u{number}")).collect();
        self.any_of("unknown", &unknown)
    }

    pub(super) fn one(&self) -> Result<Visits> {
        self.visits("one", &[path_of(self.links / 2)])
    }

    pub(super) fn root(&self) -> Result<Visits> {
        self.visits("root", &["/".to_owned()])
    }

    pub(super) fn landing(&self) -> Result<Visits> {
        self.visits("landing", &[LANDING.to_owned()])
    }

    /// All links once, in random order.
    pub(super) fn all(&self) -> Result<Visits> {
        let mut random = Random::seeded(2);
        let mut numbers: Vec<u32> = (0..self.links).collect();
        for last in (1..self.links).rev() {
            numbers.swap(usize::try_from(last)?, usize::try_from(random.below(last + 1))?);
        }
        self.visits("all", &numbers.into_iter().map(path_of).collect::<Vec<_>>())
    }

    /// All links, a few of them often (Zipf).
    pub(super) fn skewed(&self) -> Result<Visits> {
        let mut sum = 0.0;
        let sums: Vec<f64> = (1..=self.links)
            .map(|rank| {
                sum += f64::from(rank).powf(-SKEW);
                sum
            })
            .collect();
        let mut random = Random::seeded(3);
        let draw = |_| {
            let point = f64::from(random.below(u32::MAX)) / f64::from(u32::MAX) * sum;
            let rank = u32::try_from(sums.partition_point(|sum| *sum < point)).unwrap_or_default();
            // Spread links of similar popularity over the numbers.
            let number = u64::from(rank) * 7_919 % u64::from(self.links);
            path_of(u32::try_from(number).unwrap_or_default())
        };
        let draws: Vec<String> = (0..self.links.saturating_mul(2).max(DRAWS)).map(draw).collect();
        self.visits("skewed", &draws)
    }

    /// The links with a feature, with a query.
    fn special(&self, name: &str, feature: LinkFeature, query: &str) -> Result<Visits> {
        let paths = (0..SPECIAL).map(|number| feature.path_of(number) + query);
        self.any_of(name, &paths.collect::<Vec<_>>())
    }

    fn any_of(&self, name: &str, paths: &[String]) -> Result<Visits> {
        let mut random = Random::seeded(4);
        let count = u32::try_from(paths.len())?;
        let draw = |_| usize::try_from(random.below(count)).ok().and_then(|index| paths.get(index)).cloned();
        self.visits(name, &(0..DRAWS).filter_map(draw).collect::<Vec<_>>())
    }

    fn visits(&self, name: &str, paths: &[String]) -> Result<Visits> {
        Visits::of(&self.folder, name, paths)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    fn lines(visits: &Visits) -> Vec<String> {
        std::fs::read_to_string(&visits.file).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn every_link_occurs_once_in_the_order() {
        let folder = tempfile::tempdir().unwrap();
        let all = lines(&Paths::new(folder.path(), 500).all().unwrap());
        assert_eq!(all.len(), 500);
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 500);
        assert_ne!(all[..3], ["/s0", "/s1", "/s2"]);
    }

    #[test]
    fn skewed_visits_favour_the_first_link_twofold() {
        let folder = tempfile::tempdir().unwrap();
        let mut counts = BTreeMap::<String, u32>::new();
        for path in lines(&Paths::new(folder.path(), 1_000).skewed().unwrap()) {
            *counts.entry(path).or_default() += 1;
        }
        let ratio = f64::from(counts["/s0"]) / f64::from(counts["/s919"]);
        assert!((2.0..2.3).contains(&ratio), "{ratio}");
        assert!(counts.len() > 900, "{}", counts.len());
    }
}
