//! Reading the batches that wait to be packed.

use std::collections::BTreeMap;
use std::sync::Arc;

use signpost_app::ports::StoreError;
use signpost_clicks::{MAX_UNPACKED_BYTES, Unpacked, UnpackedBatch, accounts};
use signpost_domain::AccountId;

use crate::computing::{ComputeError, Lane, compute};
use crate::tables::{BatchHead, BatchKey, BatchSelection, ClickSnapshot};

/// The waiting batches of a selection.
pub(crate) struct WaitingBatches {
    heads: BTreeMap<BatchKey, BatchHead>,
    bytes: u64,
}

impl WaitingBatches {
    /// Finds the batches.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if they are too large for one question.
    pub(crate) async fn find(
        snapshot: &mut dyn ClickSnapshot,
        selection: BatchSelection,
    ) -> Result<Self, StoreError> {
        let heads = snapshot.waiting_batches(selection, usize::MAX).await?;
        let bytes = heads.iter().fold(0_u64, |sum, head| sum.saturating_add(head.bytes));
        if bytes > MAX_UNPACKED_BYTES {
            return Err(StoreError::unavailable(format!(
                "{bytes} bytes of clicks are not packed yet, too many to read at once"
            )));
        }
        Ok(Self { heads: heads.into_iter().map(|head| (head.key, head)).collect(), bytes })
    }

    /// Their size.
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads their clicks.
    pub(crate) async fn read(mut self, snapshot: &mut dyn ClickSnapshot) -> Result<Unpacked, StoreError> {
        if self.heads.is_empty() {
            return Ok(Unpacked::default());
        }
        let keys: Vec<BatchKey> = self.heads.keys().copied().collect();
        let data = snapshot.batch_data(&keys).await?;
        let batch = |(key, data): (BatchKey, Vec<u8>)| {
            self.heads.remove(&key).map(|BatchHead { first, last, .. }| UnpackedBatch { first, last, data })
        };
        Ok(Unpacked::new(data.into_iter().filter_map(batch).collect()))
    }
}

/// The batches without those that cannot be read; `None` if all can.
pub(crate) async fn without_malformed(
    lane: Lane,
    mut unpacked: Arc<Unpacked>,
) -> Result<Option<Arc<Unpacked>>, ComputeError> {
    let removing = move || {
        let removed = Arc::make_mut(&mut unpacked).remove_malformed();
        (removed > 0).then_some(unpacked)
    };
    compute(lane, removing).await
}

/// A batch with clicks of more accounts is not listed under them.
pub const MAX_LISTED_ACCOUNTS: usize = 1_000;

/// The accounts under which a store should find a batch. `None` if all questions must read it, because it has clicks of very
/// many accounts, or is malformed.
#[must_use]
pub fn listed_accounts(segment: &[u8]) -> Option<Vec<AccountId>> {
    accounts(segment).ok().filter(|accounts| accounts.len() <= MAX_LISTED_ACCOUNTS)
}
