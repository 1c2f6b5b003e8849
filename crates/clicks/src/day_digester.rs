//! Digests days: builds their digests, and finds the last click of each link.

use std::collections::BTreeMap;

use signpost_domain::analytics::UtcDay;
use signpost_domain::{LinkId, Timestamp};

use crate::MalformedSegment;
use crate::click_rows::ClickRows;
use crate::columns::{has_several_days, link_order};
use crate::decoded_segment::DecodedSegment;
use crate::digest::{Digest, DigestScope, MIN_CLICKS_OF_LINK_DIGEST};
use crate::numbers::{index, sum};
use crate::packer::day_of;
use crate::rounds::Round;
use crate::scope_sums::{ScopeSums, passes_of, visitors_of_pass};
use crate::segment_reader::Decoder;
use crate::value_limits::limit_values;
use crate::visitor_bound::VisitorBound;

/// Default size of the arrays of visitors.
const ARRAY_BYTES: u64 = 20 << 20;

/// How many bytes the digests of a day's links may have together. Further links have none: questions read their segments.
const MAX_DIGEST_BYTES: usize = 32 << 20;

/// A scope whose visitors need more passes has no digest: each pass reads the whole day.
const MAX_PASSES: u64 = 64;

/// What upkeep notes of an account's day that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DigestedDay {
    /// The account's digest, and those of links with at least [`MIN_CLICKS_OF_LINK_DIGEST`] clicks of all kinds.
    pub digests: Vec<Digest>,
    /// The last click of each link. Bots, blocked visits and widget clicks do not count.
    pub last_clicks: BTreeMap<LinkId, Timestamp>,
}

/// Digests an account's day from all its segments. Without clicks there is no digest.
///
/// A digest omits dimensions with more than 4,096 values, or 256 KiB of them. Questions about them need the segments. A link has fewer,
/// because the digests have the values that [`seal`](crate::seal) keeps of the same segments (D47).
pub fn digest(segments: &[impl AsRef<[u8]>]) -> Result<DigestedDay, MalformedSegment> {
    let mut columns = day_of(segments)?;
    let order = columns.order();
    limit_values(&mut columns, &order);
    let mut digester = DayDigester::with_array_bytes(u64::MAX);
    digester.add(&columns.rows(), &order);
    while digester.end_round() == Round::Again {
        digester.add(&columns.rows(), &order);
    }
    Ok(digester.finish())
}

/// Digests a day that is too large to be in memory as a whole.
///
/// Its segments are added in rounds, in the order of links and times, with the values that each link keeps: those of
/// [`RangeSorter`](crate::RangeSorter), or sealed ones. The first round finds the last clicks, in any order of segments, and
/// plans. The others sum up.
#[derive(Debug)]
pub struct DayDigester {
    array_bytes: u64,
    decoder: Decoder,
    content: Box<DecodedSegment>,
    day: Option<UtcDay>,
    visitors: VisitorBound,
    /// The links that get a digest, and a bound of their visitors, in order.
    links: Vec<(LinkId, u64)>,
    last_clicks: BTreeMap<LinkId, Timestamp>,
    /// The link of the last row, and its clicks so far.
    current: Option<(LinkId, u64)>,
    visitors_of_current: VisitorBound,
    /// The pass that sums up now; `None` while the first round plans.
    pass: Option<u64>,
    /// The passes of the account; `None` while the first round plans, and if there would be too many.
    passes_of_account: Option<u64>,
    account: Box<ScopeSums>,
    /// The sums of the current link, if it takes one pass.
    link: Box<ScopeSums>,
    /// The sums of links with so many visitors that they take several passes.
    large_links: BTreeMap<LinkId, ScopeSums>,
    digests: BTreeMap<DigestScope, Digest>,
    /// The size of the digests of links.
    digest_bytes: usize,
}

impl Default for DayDigester {
    fn default() -> Self {
        Self::new()
    }
}

impl DayDigester {
    /// Starts without clicks.
    #[must_use]
    pub fn new() -> Self {
        Self::with_array_bytes(ARRAY_BYTES)
    }

    /// Starts without clicks. Arrays of visitors take at most about this many bytes for the account, and as many for a link.
    #[must_use]
    pub fn with_array_bytes(array_bytes: u64) -> Self {
        Self {
            array_bytes,
            decoder: Decoder::new(),
            content: Box::default(),
            day: None,
            visitors: VisitorBound::default(),
            links: Vec::new(),
            last_clicks: BTreeMap::new(),
            current: None,
            visitors_of_current: VisitorBound::default(),
            pass: None,
            passes_of_account: None,
            account: Box::default(),
            link: Box::default(),
            large_links: BTreeMap::new(),
            digests: BTreeMap::new(),
            digest_bytes: 0,
        }
    }

    /// Adds some segments in a round.
    pub fn add_part(&mut self, segments: &[impl AsRef<[u8]>]) -> Result<(), MalformedSegment> {
        let mut content = std::mem::take(&mut self.content);
        let (mut runs, mut run, mut order) = (Vec::new(), Vec::new(), Vec::new());
        for segment in segments {
            content.read(segment.as_ref(), &mut self.decoder)?;
            let rows = content.rows(&mut runs, &mut run);
            if has_several_days(rows.runs) {
                return Err(MalformedSegment::SeveralDays);
            }
            order.clear();
            order.extend((0..).take(rows.time.len()));
            self.add(&rows, &order);
        }
        self.content = content;
        Ok(())
    }

    fn add(&mut self, rows: &ClickRows<'_>, order: &[u32]) {
        match self.pass {
            None => self.plan(rows, order),
            Some(pass) => self.sum_up(pass, rows, order),
        }
    }

    /// Ends a round.
    pub fn end_round(&mut self) -> Round {
        let Some(day) = self.day else { return Round::Done };
        let Some(pass) = self.pass else {
            self.end_planned_link();
            self.passes_of_account = self.passes(sum(self.visitors.visitors()));
            self.account.begin(self.passes_of_account.unwrap_or(0));
            return self.begin_round(0);
        };
        self.end_link(day);
        if is_in(pass, self.passes_of_account) && self.account.end_pass() {
            let digest = self.account.digest(DigestScope::Account, day);
            self.digests.insert(digest.scope, digest);
        }
        self.begin_round(pass + 1)
    }

    /// What was found.
    #[must_use]
    pub fn finish(self) -> DigestedDay {
        DigestedDay { digests: self.digests.into_values().collect(), last_clicks: self.last_clicks }
    }

    fn begin_round(&mut self, pass: u64) -> Round {
        self.pass = Some(pass);
        let of_links = self.links.iter().map(|(_, visitors)| self.passes(*visitors));
        let is_needed = of_links.chain([self.passes_of_account]).any(|passes| is_in(pass, passes));
        if is_needed { Round::Again } else { Round::Done }
    }

    /// The number of passes for this many visitors; `None` if they are too many.
    fn passes(&self, visitors: u64) -> Option<u64> {
        Some(passes_of(visitors, self.array_bytes)).filter(|passes| *passes <= MAX_PASSES)
    }

    fn plan(&mut self, rows: &ClickRows<'_>, order: &[u32]) {
        let one_pass = visitors_of_pass(self.array_bytes);
        self.visitors.add_clicks(rows.visitors.iter().copied(), one_pass);
        for (run, of_link) in rows.links(order) {
            self.day = Some(run.day);
            if self.current.is_none_or(|(link, _)| link != run.link) {
                self.end_planned_link();
                self.current = Some((run.link, 0));
            }
            if let Some((_, clicks)) = &mut self.current {
                *clicks += sum(of_link.len());
            }
            let clicks = of_link.iter().map(|row| rows.visitor_of(*row));
            self.visitors_of_current.add_clicks(clicks, one_pass);
            // The rows of a link are in the order of time.
            let is_click = |row: &&u32| rows.kind.get(index(**row)) == Some(&0);
            if let Some(last) = of_link.iter().rfind(is_click)
                && let Some(millis) = rows.time.get(index(*last)).map(|time| i64::from(*time))
                && let Some(at) = Timestamp::from_unix_millis(run.day.first().unix_millis() + millis)
            {
                let last = self.last_clicks.entry(run.link).or_insert(at);
                *last = at.max(*last);
            }
        }
    }

    fn end_planned_link(&mut self) {
        if let Some((link, clicks)) = self.current.take()
            && clicks >= u64::from(MIN_CLICKS_OF_LINK_DIGEST)
        {
            self.links.push((link, sum(self.visitors_of_current.visitors())));
        }
        self.visitors_of_current.clear();
    }

    fn sum_up(&mut self, pass: u64, rows: &ClickRows<'_>, order: &[u32]) {
        if is_in(pass, self.passes_of_account) {
            self.account.add(DigestScope::Account, rows, order);
        }
        for (run, of_link) in rows.links(order) {
            let passes = self.visitors_of(run.link).and_then(|visitors| self.passes(visitors));
            let Some(passes) = passes.filter(|passes| pass < *passes) else { continue };
            if self.current.is_none_or(|(link, _)| link != run.link) {
                self.end_link(run.day);
                self.current = Some((run.link, 0));
                if pass == 0 {
                    let sums = if passes > 1 {
                        self.large_links.entry(run.link).or_default()
                    } else {
                        &mut self.link
                    };
                    sums.begin(passes);
                }
            }
            let sums = if passes > 1 { self.large_links.get_mut(&run.link) } else { Some(&mut *self.link) };
            if let Some(sums) = sums {
                sums.add(DigestScope::Link(run.link), rows, of_link);
            }
        }
    }

    /// A bound of the visitors of a link that gets a digest.
    fn visitors_of(&self, link: LinkId) -> Option<u64> {
        let found = self.links.binary_search_by_key(&link_order(link), |(link, _)| link_order(*link));
        self.links.get(found.ok()?).map(|(_, visitors)| *visitors)
    }

    /// Ends a link in this pass.
    fn end_link(&mut self, day: UtcDay) {
        let Some((link, _)) = self.current.take() else { return };
        let scope = DigestScope::Link(link);
        let digest = match self.large_links.get_mut(&link) {
            None => {
                self.link.end_pass();
                self.link.digest(scope, day)
            }
            Some(sums) => {
                let is_last = sums.end_pass();
                sums.release_arrays();
                if !is_last {
                    return;
                }
                let digest = sums.digest(scope, day);
                self.large_links.remove(&link);
                digest
            }
        };
        self.digest_bytes += digest.data.len();
        if self.digest_bytes <= MAX_DIGEST_BYTES {
            self.digests.insert(scope, digest);
        }
    }
}

/// Whether a pass is one of these.
fn is_in(pass: u64, passes: Option<u64>) -> bool {
    passes.is_some_and(|passes| pass < passes)
}
