//! The migrations that are embedded in the program.

use std::any::Any;

use diesel::QueryResult;
use diesel::connection::{BoxableConnection, SimpleConnection};
use diesel::migration::{Migration, MigrationSource};
use diesel::pg::Pg;
use diesel_migrations::{EmbeddedMigrations, embed_migrations};

use crate::open_error::OpenError;

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("../../migrations/postgres");

/// One change of the tables.
pub(crate) struct EmbeddedMigration {
    /// The version that the database records.
    pub(crate) version: String,
    /// The name of its folder.
    pub(crate) name: String,
    pub(crate) statements: String,
}

/// All of them, in order.
pub(crate) fn embedded() -> Result<Vec<EmbeddedMigration>, OpenError> {
    let all: Vec<Box<dyn Migration<Pg>>> = MIGRATIONS.migrations().map_err(OpenError::Migration)?;
    all.iter()
        .map(|migration| {
            let mut statements = Statements(String::new());
            migration.run(&mut statements).map_err(OpenError::Migration)?;
            Ok(EmbeddedMigration {
                version: migration.name().version().to_string(),
                name: migration.name().to_string(),
                statements: statements.0,
            })
        })
        .collect()
}

/// Collects the statements of a migration, which Diesel hands only to a connection. Running them through Diesel would lose
/// the SQLSTATE. Only the SQLSTATE distinguishes a lock timeout from a broken statement.
struct Statements(String);

impl SimpleConnection for Statements {
    fn batch_execute(&mut self, statements: &str) -> QueryResult<()> {
        self.0.push_str(statements);
        Ok(())
    }
}

impl BoxableConnection<Pg> for Statements {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}
