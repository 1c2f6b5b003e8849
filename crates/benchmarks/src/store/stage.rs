//! The servers, the program and the accounts of the benchmark.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::load::{Load, Numbers, Template};
use super::processor_time::{of_family, of_this_process, waits_of};
use super::redis::Redis;
use super::turns::{Round, Work};
use crate::commands::Commands;
use crate::connection::ApiClient;
use crate::keeper::free_port;
use crate::pgbench::Script;
use crate::postgres::Postgres;
use crate::turns::Until;
use signpost_xtask::program::Program;

/// An account and its key.
pub(super) struct Account {
    /// The id in the format of PostgreSQL.
    pub(super) id: String,
    key: String,
}

impl Account {
    pub(super) fn caller(&self, program: &Program) -> ApiClient {
        ApiClient::new(program, &self.key)
    }
}

/// The first number for new links; smaller numbers belong to links that are seeded once.
const FIRST_FREE_NUMBER: u64 = 100_000_000_000_000;

/// All running servers and programs.
pub(super) struct Stage {
    // Fields drop in order: the program must stop before its servers.
    pub(super) program: Program,
    pub(super) postgres: Postgres,
    pub(super) redis: Redis,
    executable: PathBuf,
    earlier: Option<PathBuf>,
    free_number: Cell<u64>,
}

impl Stage {
    pub(super) fn start(executable: &Path, earlier: Option<&Path>) -> Result<Self> {
        let (postgres, redis) = (Postgres::start()?, Redis::start()?);
        Commands::on_postgres(executable, &postgres).run(&["migrate"])?;
        let program = start_program(executable, &postgres, "first", &redis.url())?;
        let free_number = Cell::new(FIRST_FREE_NUMBER);
        Ok(Self {
            program,
            postgres,
            redis,
            executable: executable.to_owned(),
            earlier: earlier.map(Path::to_owned),
            free_number,
        })
    }

    /// Another node, which counts requests in memory because its Redis URL leads nowhere.
    pub(super) fn start_without_redis(&self) -> Result<Program> {
        let nowhere = format!("redis://127.0.0.1:{}", free_port()?);
        start_program(&self.executable, &self.postgres, "second", &nowhere)
    }

    /// The earlier program, as another node.
    pub(super) fn start_earlier(&self) -> Result<Option<Program>> {
        let earlier = self.earlier.as_deref();
        let start = |executable| start_program(executable, &self.postgres, "earlier", &self.redis.url());
        earlier.map(start).transpose()
    }

    pub(super) fn account(&self, name: &str) -> Result<Account> {
        let (id, key) = Commands::on_postgres(&self.executable, &self.postgres).account(name)?;
        Ok(Account { id: id.trim_start_matches("acc_").to_owned(), key })
    }

    pub(super) fn caller(&self, account: &Account) -> ApiClient {
        account.caller(&self.program)
    }

    /// Reserves `count` numbers, and returns the first.
    pub(super) fn numbers(&self, count: u64) -> u64 {
        let first = self.free_number.get();
        self.free_number.set(first + count);
        first
    }

    /// Runs a round of requests to the API.
    pub(super) fn load(
        &self,
        program: &Program,
        load: &Load<'_>,
        template: impl Fn() -> Template + Sync,
    ) -> Result<Round> {
        let before = self.work_of(program)?;
        let (requests, elapsed) = load.run(template)?;
        Ok(Round { requests, elapsed, work: self.work_of(program)?.since(before) })
    }

    /// Runs a round of requests without ids of links.
    pub(super) fn requests(
        &self,
        caller: &ApiClient,
        connections: u32,
        until: Until,
        template: impl Fn() -> Template + Sync,
    ) -> Result<Round> {
        let load = Load { caller, connections, until, numbers: Numbers::None };
        self.load(&self.program, &load, template)
    }

    /// Runs a round of `pgbench`.
    pub(super) fn pgbench(&self, script: &Script, clients: u32, until: Until, first: u64) -> Result<Round> {
        let before = self.work_of(&self.program)?;
        let [_, children_before] = of_this_process()?;
        let (requests, elapsed) = script.run(&self.postgres, clients, until, first)?;
        let [_, children] = of_this_process()?;
        let work = self.work_of(&self.program)?.since(before);
        Ok(Round {
            requests,
            elapsed,
            work: Work { client: children.saturating_sub(children_before), ..work },
        })
    }

    fn work_of(&self, program: &Program) -> Result<Work> {
        Ok(Work {
            client: of_this_process()?[0],
            program: of_family(program.pid())?,
            postgres: of_family(self.postgres.pid())?,
            redis: of_family(self.redis.pid())?,
            waits: waits_of(program.pid())?,
        })
    }
}

fn start_program(executable: &Path, postgres: &Postgres, name: &str, redis: &str) -> Result<Program> {
    // The folder is removed with the server's folder.
    let folder = postgres.folder().join(name);
    fs::create_dir(&folder)?;
    let database = postgres.url();
    Program::start_with(executable, &folder, &["--database-url", &database, "--redis-url", redis])
}
