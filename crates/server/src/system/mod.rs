//! The ports to the machine that the program runs on.

mod os_randomness;
mod system_clock;
mod ulid_source;

pub(crate) use os_randomness::OsRandomness;
pub(crate) use system_clock::SystemClock;
pub(crate) use ulid_source::UlidSource;

#[cfg(test)]
mod contract {
    use std::sync::Arc;

    use signpost_app::ports::{Clock, IdSource, Randomness};

    use super::{OsRandomness, UlidSource};

    fn ids_of_another_node(clock: Arc<dyn Clock>) -> Arc<dyn IdSource> {
        Arc::new(UlidSource::new(clock))
    }

    fn os_randomness() -> Arc<dyn Randomness> {
        Arc::new(OsRandomness)
    }

    signpost_port_contracts::id_source_contract!(ids_of_another_node);
    signpost_port_contracts::randomness_contract!(os_randomness);
}
