//! Posting to the API, and seeing that nothing of it failed.

use anyhow::{Result, ensure};

use super::connection::{Caller, Connection};
use crate::program::Program;

/// A connection to the API of a program.
pub(super) struct Api {
    caller: Caller,
    connection: Connection,
}

impl Api {
    pub(super) fn connect(program: &Program) -> Result<Self> {
        let caller = Caller::new(program, &program.key);
        let connection = caller.connect()?;
        Ok(Self { caller, connection })
    }

    /// Sends a body, and waits for an answer that says that all went well.
    pub(super) fn post(&mut self, path: &str, body: &str) -> Result<String> {
        let answer = self.connection.send(&self.caller.request("POST", path, body))?;
        let answer = String::from_utf8(answer.to_vec())?;
        ensure!(!answer.contains("\"failed_count\":") || answer.contains("\"failed_count\":0"), "{answer}");
        Ok(answer)
    }
}
