//! The columns of `users` that hold a second factor.

use signpost_domain::{SealedSecret, SecondFactor, TokenHash, TotpStep};

use crate::Corrupt;
use crate::cell::RowName;
use crate::columns::Instant;

/// The number of bytes of the hash of a recovery code.
const HASH_BYTES: usize = 32;

/// The columns as they are stored: all four or none.
#[derive(Debug, Default)]
pub(crate) struct SecondFactorCells {
    pub(crate) totp_seed: Option<Vec<u8>>,
    pub(crate) totp_last_step: Option<i64>,
    pub(crate) recovery_codes: Option<Vec<u8>>,
    pub(crate) second_factor_at: Option<Instant>,
}

impl From<&SecondFactor> for SecondFactorCells {
    fn from(factor: &SecondFactor) -> Self {
        let SecondFactor { seed, last_step, recovery_codes, set_up_at } = factor;
        Self {
            totp_seed: Some(seed.0.clone()),
            // Steps of the years up to 9999 are far below the limit.
            totp_last_step: Some(i64::try_from(last_step.0).unwrap_or(i64::MAX)),
            recovery_codes: Some(recovery_codes.iter().flat_map(|code| code.to_bytes()).collect()),
            second_factor_at: Some((*set_up_at).into()),
        }
    }
}

impl SecondFactorCells {
    /// The columns as a value of the domain.
    pub(crate) fn read(self, row: &RowName) -> Result<Option<SecondFactor>, Corrupt> {
        let Self { totp_seed, totp_last_step, recovery_codes, second_factor_at } = self;
        let Some(seed) = totp_seed else {
            // Read as none, half a second factor would let its user in by the password alone.
            let is_none = totp_last_step.is_none() && recovery_codes.is_none() && second_factor_at.is_none();
            return row.present("totp_seed", is_none.then_some(None));
        };
        let codes = row.present("recovery_codes", recovery_codes)?;
        let (codes, rest) = codes.as_chunks::<HASH_BYTES>();
        if !rest.is_empty() {
            return Err(row.corrupt("recovery_codes", "is not made of hashes of 32 bytes"));
        }
        let last_step = row.present("totp_last_step", totp_last_step)?;
        let set_up_at = row.present("second_factor_at", second_factor_at)?;
        Ok(Some(SecondFactor {
            seed: SealedSecret(seed),
            last_step: TotpStep(row.count("totp_last_step", last_step)?),
            recovery_codes: codes.iter().copied().map(TokenHash::from_bytes).collect(),
            set_up_at: row.timestamp("second_factor_at", set_up_at)?,
        }))
    }
}
