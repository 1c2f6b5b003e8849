//! The migrations in the program.

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
    /// What the database remembers it by.
    pub(crate) version: String,
    /// Its folder.
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

/// What a migration is run on to have its statements, which diesel gives to a connection alone. To run them by diesel would
/// lose the code of an error, by which alone a table that others hold is told from a statement that is wrong.
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
