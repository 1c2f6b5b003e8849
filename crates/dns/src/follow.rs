//! Follows a name to the records at the end of its chain.

use std::net::SocketAddr;
use std::time::Duration;

use futures_util::future::try_join_all;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use hickory_resolver::proto::op::Query;
use hickory_resolver::proto::rr::{Name, RData, RecordType};
use signpost_app::ports::DnsUnavailable;
use tokio::time::sleep;

use crate::answer::Answer;
use crate::chain::{Chain, Step, text};
use crate::exchange;
use crate::failure::Failure;

/// One call: its servers, and what it has learned about them.
pub(crate) struct Lookup<'a> {
    servers: &'a [SocketAddr],
    patience: Duration,
    time_limit: Duration,
}

/// The records at the end of a chain.
#[derive(Debug)]
pub(crate) struct ChainRecords {
    pub(crate) chain: Chain,
    /// Records of all requested types.
    pub(crate) records: Vec<RData>,
}

impl<'a> Lookup<'a> {
    pub(crate) const fn new(servers: &'a [SocketAddr], patience: Duration, time_limit: Duration) -> Self {
        Self { servers, patience, time_limit }
    }

    /// Follows `start` to the records of these types, with concurrent queries. All types see the same chain.
    pub(crate) async fn follow(
        &self,
        start: Name,
        types: &[RecordType],
    ) -> Result<ChainRecords, DnsUnavailable> {
        let mut chain = Chain::new(start);
        let mut records = Vec::new();
        let mut unsettled = types.to_vec();
        // The server to ask first: a server that failed once does not delay every round.
        let mut first = 0;
        // Each round follows an alias or settles every remaining type. Aliases are few.
        while !unsettled.is_empty() {
            let round =
                unsettled.iter().map(|asked| self.ask(Query::query(chain.end().clone(), *asked), first));
            let answers = try_join_all(round).await?;
            let before = chain.len();
            while let Some(target) = alias(&answers, chain.end()) {
                records.clear();
                match chain.follow(target) {
                    Step::Extended => {}
                    Step::DeadEnd => return Ok(ChainRecords { chain, records }),
                }
            }
            let has_moved = chain.len() > before;
            if has_moved {
                unsettled = types.to_vec();
            }
            for (server, answer) in answers {
                first = server;
                let found = records.len();
                records.extend(answer.records(chain.end()).cloned());
                // Only an answer about the new end can say that it has no records.
                if !has_moved || records.len() > found {
                    unsettled.retain(|asked| *asked != answer.asked());
                }
            }
        }
        Ok(ChainRecords { chain, records })
    }

    /// Asks the servers, starting with this index, until one gives a definite answer. Returns that server's
    /// index too.
    async fn ask(&self, query: Query, first: usize) -> Result<(usize, Answer), DnsUnavailable> {
        let count = self.servers.len();
        let mut waiting = (0..count).map(|index| (first + index) % count);
        let mut asked = FuturesUnordered::new();
        let mut failures: Vec<(SocketAddr, Failure)> = Vec::new();
        loop {
            let next =
                waiting.next().and_then(|index| self.servers.get(index).map(|server| (index, *server)));
            let has_next = next.is_some();
            if let Some((index, server)) = next {
                let query = &query;
                asked.push(
                    async move { (index, server, exchange::ask(server, query, self.time_limit).await) },
                );
            }
            let answered = tokio::select! {
                answered = asked.next() => answered,
                () = sleep(self.patience), if has_next => continue,
            };
            match answered {
                Some((index, _, Ok(answer))) => return Ok((index, answer)),
                Some((_, server, Err(failure))) => {
                    tracing::debug!(%server, %failure, "a name server gave no definite answer");
                    failures.push((server, failure));
                }
                None => return Err(unavailable(&failures)),
            }
        }
    }
}

/// The target of `name` as an alias in any of these answers: the least if there are several.
fn alias(answers: &[(usize, Answer)], name: &Name) -> Option<Name> {
    answers.iter().flat_map(|(_, answer)| answer.aliases(name)).min_by_key(|target| text(target)).cloned()
}

fn unavailable(failures: &[(SocketAddr, Failure)]) -> DnsUnavailable {
    let reasons: Vec<String> =
        failures.iter().map(|(server, failure)| format!("{server}: {failure}")).collect();
    DnsUnavailable { reason: reasons.join("; ") }
}
