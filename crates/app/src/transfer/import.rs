//! Importing: making of each record the group or the link that it describes, unless it is there already.

use std::collections::BTreeSet;

use futures_util::future::join;
use signpost_domain::{AccountId, HostBlocklist, NamedDomains, PixelId, Plan, PlanResource};

use super::entry::Run;
use super::insertion::insert_links;
use super::judging::Judging;
use super::named_groups::NamedGroups;
use super::outcome::ImportedRow;
use super::pending::Pending;
use super::record::ImportRow;
use super::rehearsal::Rehearsal;
use crate::accounts::{OperatorError, require_plan};
use crate::application::Application;
use crate::links::LinkRules;

/// How many rows are best imported at once. Their new links are one transaction: with more of them, the embedded store
/// would keep other writers waiting; with fewer, its commits would take most of the time.
pub const ROWS_AT_ONCE: usize = 1_000;

/// Whether an import writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportMode {
    /// It creates what is not there.
    Write,
    /// It only says what would become of each row. What the store alone decides, under concurrency, it cannot know.
    Rehearse,
}

/// An import into an account that is under way.
///
/// What a row describes is there already if the account has something with the row's id; else if it has a link at the
/// row's address; else, for a row without id and slug, if it has a link at one of the slugs that the row leads to. Then
/// it is compared and never changed, so a second import of the same file changes nothing, and an import that was cut short
/// is completed by another. Otherwise the row is judged by the rules of the API's creation, the plan's features and limits
/// included, and created with the id and the dates that it names.
///
/// Rows are judged while the links of the rows before them are inserted, unless they depend on what becomes of these.
pub struct Import {
    account: AccountId,
    plan: Plan,
    judging: Judging,
    /// What [`push`](Self::push) has judged last.
    pending: Option<Pending>,
}

impl Import {
    /// Begins an import.
    ///
    /// # Errors
    /// [`OperatorError::NoSuchAccount`]; [`OperatorError::NoSuchPlan`] if the account is on a plan that the configuration
    /// does not have. Or the store broke.
    pub async fn start(
        app: &Application,
        account: AccountId,
        mode: ImportMode,
    ) -> Result<Self, OperatorError> {
        let missing = || OperatorError::NoSuchAccount(account);
        let plan = app.store.account(account).await?.ok_or_else(missing)?.plan;
        let plan = require_plan(app, &plan)?.clone();
        let rehearsal = match mode {
            ImportMode::Write => None,
            ImportMode::Rehearse => {
                let usage = app.store.usage(account).await?.ok_or_else(missing)?;
                Some(Rehearsal::new(usage, plan.limits))
            }
        };
        let judging = Judging { limits: plan.limits, named_groups: NamedGroups::of(account), rehearsal };
        Ok(Self { account, plan, judging, pending: None })
    }

    /// How many groups were created, or would have been, because a row named them. They have no rows of their own.
    #[must_use]
    pub const fn groups_created(&self) -> u64 {
        self.judging.named_groups.created()
    }

    /// Imports rows, in their order. What is new among them is created together, [`ROWS_AT_ONCE`] at most if it is all to be
    /// one transaction: after a crash, all of it is there or, for the groups and for the links, none. The answer says of
    /// each row, in the same order, what became of it.
    ///
    /// # Errors
    /// [`OperatorError::NoSuchAccount`] if it was deleted meanwhile. Or the store broke; the same file can be imported
    /// again.
    pub async fn rows(
        &mut self,
        app: &Application,
        rows: Vec<ImportRow>,
    ) -> Result<Vec<ImportedRow>, OperatorError> {
        let mut imported = self.push(app, rows).await?;
        imported.extend(self.finish(app).await?);
        Ok(imported)
    }

    /// Imports rows as [`rows`](Self::rows) does, but leaves the last insertion to the next call, which judges its own rows
    /// meanwhile. The answer is about rows of earlier calls, and of this one as far as they are settled: all calls together,
    /// [`finish`](Self::finish) being the last, answer for every row in order.
    ///
    /// # Errors
    /// As [`rows`](Self::rows). What became of rows that no answer was about is not known.
    pub async fn push(
        &mut self,
        app: &Application,
        rows: Vec<ImportRow>,
    ) -> Result<Vec<ImportedRow>, OperatorError> {
        let (blocklist, no_pixels) = (app.target_blocklist.current(), BTreeSet::new());
        let rules = self.rules(app, &blocklist, &no_pixels);
        let references: Vec<_> =
            rows.iter().filter_map(|row| row.record.as_ref().ok()?.named_domain()).collect();
        let named_domains = rules.look_up(&rules.custom_hostnames(&references)).await?;
        let mut imported = vec![];
        for run in Run::of_rows(rows, self.account, &rules.context(&named_domains)) {
            imported.extend(self.run(&rules, &named_domains, run).await?);
        }
        Ok(imported)
    }

    /// Does what is left to be done for the rows that were pushed, and says what became of them.
    ///
    /// # Errors
    /// As [`rows`](Self::rows).
    pub async fn finish(&mut self, app: &Application) -> Result<Vec<ImportedRow>, OperatorError> {
        let (blocklist, no_pixels) = (app.target_blocklist.current(), BTreeSet::new());
        let rules = self.rules(app, &blocklist, &no_pixels);
        self.settle(&rules).await
    }

    fn rules<'a>(
        &self,
        app: &'a Application,
        blocklist: &'a HostBlocklist,
        // Files name no pixels.
        known_pixels: &'a BTreeSet<PixelId>,
    ) -> LinkRules<'a> {
        LinkRules { app, account: self.account, features: self.plan.features, blocklist, known_pixels }
    }

    /// Judges a run, and meanwhile inserts the links of the one before. Says what became of that.
    async fn run(
        &mut self,
        rules: &LinkRules<'_>,
        named_domains: &NamedDomains,
        run: Run,
    ) -> Result<Vec<ImportedRow>, OperatorError> {
        let mut imported = vec![];
        if self.pending.as_ref().is_some_and(|pending| pending.concerns(&run)) {
            imported = self.settle(rules).await?;
        }
        let pending = self.pending.take();
        let limit = self.plan.limits.of(PlanResource::Links);
        let links = pending.as_ref().map(Pending::links).unwrap_or_default();
        let (insertions, judged) =
            join(insert_links(rules, links, limit), self.judging.judge(rules, named_domains, run)).await;
        if let Some(pending) = pending {
            imported.extend(pending.settle(rules, insertions?, limit).await?);
        }
        self.pending = Some(judged?);
        Ok(imported)
    }

    /// Inserts the links that are pending.
    async fn settle(&mut self, rules: &LinkRules<'_>) -> Result<Vec<ImportedRow>, OperatorError> {
        let Some(pending) = self.pending.take() else { return Ok(vec![]) };
        let limit = self.plan.limits.of(PlanResource::Links);
        let insertions = insert_links(rules, pending.links(), limit).await?;
        pending.settle(rules, insertions, limit).await
    }
}
