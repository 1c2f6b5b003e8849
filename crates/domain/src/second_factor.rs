//! The second factor of users with passwords: one-time codes of an authenticator app, and recovery codes.

use std::fmt;

use sha2::{Digest, Sha256};
use totp_rs::{Builder, Secret, Totp};

use crate::email::Email;
use crate::sealed_secret::SealedSecret;
use crate::secret_token::TokenHash;
use crate::timestamp::Timestamp;

/// How many recovery codes a user gets at once.
pub const RECOVERY_CODES: usize = 10;

/// What authenticator apps call the service.
const ISSUER: &str = "Signpost";

/// What a user has beside the password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecondFactor {
    /// The seed of the one-time codes, sealed for this user.
    pub seed: SealedSecret,
    /// The newest step whose code was used. Codes of this step and of older ones are used up.
    pub last_step: TotpStep,
    /// The hashes of the recovery codes that are left.
    pub recovery_codes: Vec<TokenHash>,
    /// When it was set up.
    pub set_up_at: Timestamp,
}

impl SecondFactor {
    /// The second factor after the use of a one-time code. `None` if the code is wrong, or was used up before.
    #[must_use]
    pub fn after_one_time_code(&self, seed: &TotpSeed, code: &str, now: Timestamp) -> Option<Self> {
        let step = seed.step_of(code, now).filter(|step| *step > self.last_step)?;
        Some(Self { last_step: step, ..self.clone() })
    }

    /// The second factor after the use of a recovery code. `None` if it is none of those that are left.
    #[must_use]
    pub fn after_recovery_code(&self, code: &RecoveryCode) -> Option<Self> {
        let hash = code.hash();
        let left: Vec<TokenHash> = self.recovery_codes.iter().copied().filter(|left| *left != hash).collect();
        (left.len() < self.recovery_codes.len()).then(|| Self { recovery_codes: left, ..self.clone() })
    }
}

/// The number of an interval of 30 seconds since 1970, in which one one-time code is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TotpStep(pub u64);

/// The secret that an authenticator app and the service share: 160 bits (RFC 6238 with SHA-1, six digits, 30 seconds, which is
/// what all apps understand). Its `Debug` output hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct TotpSeed([u8; Self::LENGTH]);

impl TotpSeed {
    /// The number of bytes.
    pub const LENGTH: usize = 20;

    /// The seed of these bytes. They must come from a cryptographically secure source.
    #[must_use]
    pub const fn from_random(bytes: [u8; Self::LENGTH]) -> Self {
        Self(bytes)
    }

    /// Reads the bytes that were sealed. `None` if they have another length.
    #[must_use]
    pub fn from_opened(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// The bytes to seal.
    #[must_use]
    pub const fn expose(&self) -> &[u8; Self::LENGTH] {
        &self.0
    }

    /// The seed as people type it into an app: 32 characters in groups of four.
    #[must_use]
    pub fn typed(&self) -> String {
        grouped(&Secret::from(self.0).to_base32())
    }

    /// The address in the QR code that an app scans. The app shows the service's name and this e-mail address.
    ///
    /// ```
    /// # use signpost_domain::{Email, TotpSeed};
    /// let seed = TotpSeed::from_random([0; 20]);
    /// assert_eq!(
    ///     seed.uri(&Email::parse("ada@example.com").unwrap()),
    ///     "otpauth://totp/Signpost:ada%40example.com?secret=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA&issuer=Signpost",
    /// );
    /// ```
    #[must_use]
    pub fn uri(&self, email: &Email) -> String {
        // The label of such an address cannot have a colon.
        let label = email.as_str().replace(':', "");
        let named = Builder::new().with_secret(self.0).with_issuer(Some(ISSUER)).with_account_name(label);
        named.build_noncompliant().to_url().unwrap_or_default()
    }

    /// The code that an app shows at an instant.
    #[must_use]
    pub fn code(&self, at: Timestamp) -> String {
        self.totp().generate(unix_seconds(at)).to_string()
    }

    /// The step of a code that an app shows now, or showed or will show within 30 seconds, because clocks differ and people type
    /// slowly. Spaces in the code do not count.
    fn step_of(&self, code: &str, now: Timestamp) -> Option<TotpStep> {
        let digits: String = code.chars().filter(|c| !c.is_whitespace()).collect();
        self.totp().check(&digits, unix_seconds(now)).map(TotpStep)
    }

    /// The builder's defaults are those of RFC 6238. It refuses nothing here: the seed has 160 bits.
    fn totp(&self) -> Totp {
        Builder::new().with_secret(self.0).build_noncompliant()
    }
}

impl fmt::Debug for TotpSeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TotpSeed(…)")
    }
}

/// A code that stands in for the app once, if it is lost: 80 random bits as 16 letters and digits. Its `Debug` output hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct RecoveryCode(String);

impl RecoveryCode {
    /// The number of random bytes.
    pub const BYTES: usize = 10;
    /// The number of characters without the hyphens.
    const CHARS: usize = 16;

    /// The code of these bytes. They must come from a cryptographically secure source.
    #[must_use]
    pub fn from_random(bytes: [u8; Self::BYTES]) -> Self {
        Self(Secret::from(&bytes[..]).to_base32().to_ascii_lowercase())
    }

    /// Reads what a person typed. Hyphens, spaces and the case of letters do not count. `None` if it cannot be a recovery code.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let typed = text.chars().filter(|c| !c.is_whitespace() && *c != '-');
        // More cannot be a code, however long the text is.
        let typed: String = typed.take(Self::CHARS + 1).map(|c| c.to_ascii_lowercase()).collect();
        let is_code = typed.len() == Self::CHARS && typed.chars().all(|c| matches!(c, 'a'..='z' | '2'..='7'));
        is_code.then_some(Self(typed))
    }

    /// The code as it is shown: four groups with hyphens.
    #[must_use]
    pub fn shown(&self) -> String {
        grouped(&self.0).replace(' ', "-")
    }

    /// The hash, which is stored instead of the code. The code has so many random bits that a plain hash cannot be reversed.
    #[must_use]
    pub fn hash(&self) -> TokenHash {
        let digest = Sha256::new().chain_update(b"recovery-code:").chain_update(self.0.as_bytes());
        TokenHash::from_bytes(digest.finalize().into())
    }
}

impl fmt::Debug for RecoveryCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RecoveryCode(…)")
    }
}

/// The characters in groups of four, with spaces.
fn grouped(text: &str) -> String {
    let mut grouped = String::with_capacity(text.len() * 5 / 4);
    for (position, c) in text.chars().enumerate() {
        if position > 0 && position % 4 == 0 {
            grouped.push(' ');
        }
        grouped.push(c);
    }
    grouped
}

fn unix_seconds(at: Timestamp) -> u64 {
    u64::try_from(at.unix_millis()).unwrap_or_default() / 1_000
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    fn at(seconds: u64) -> Timestamp {
        Timestamp::EPOCH.plus(Duration::from_secs(seconds))
    }

    fn factor(seed: TotpSeed) -> (SecondFactor, TotpSeed) {
        let codes = [RecoveryCode::from_random([1; 10]), RecoveryCode::from_random([2; 10])];
        let factor = SecondFactor {
            seed: SealedSecret(vec![1]),
            last_step: TotpStep(0),
            recovery_codes: codes.iter().map(RecoveryCode::hash).collect(),
            set_up_at: at(0),
        };
        (factor, seed)
    }

    #[test]
    fn codes_are_those_of_rfc_6238() {
        // The test values of appendix B, whose last six digits are what apps show.
        let seed = TotpSeed::from_random(*b"12345678901234567890");
        for (seconds, code) in
            [(59, "287082"), (1_111_111_109, "081804"), (1_234_567_890, "005924"), (20_000_000_000, "353130")]
        {
            assert_eq!(seed.code(at(seconds)), code);
        }
        assert_eq!(seed.typed(), "GEZD GNBV GY3T QOJQ GEZD GNBV GY3T QOJQ");
    }

    #[test]
    fn a_code_counts_once_and_for_a_step_before_and_after() {
        let (factor, seed) = factor(TotpSeed::from_random([7; 20]));
        let shown = seed.code(at(3_000));
        for now in [2_970, 3_000, 3_029, 3_059] {
            assert!(factor.after_one_time_code(&seed, &shown, at(now)).is_some(), "{now}");
        }
        for now in [2_969, 3_060] {
            assert!(factor.after_one_time_code(&seed, &shown, at(now)).is_none(), "{now}");
        }
        let spaced = format!(" {} {} ", &shown[..3], &shown[3..]);
        let used = factor.after_one_time_code(&seed, &spaced, at(3_000)).unwrap();
        assert_eq!(used.last_step, TotpStep(100));
        assert!(used.after_one_time_code(&seed, &shown, at(3_001)).is_none());
        // An older one that nobody used is used up too.
        let older = seed.code(at(2_975));
        assert!(used.after_one_time_code(&seed, &older, at(3_001)).is_none());
        assert!(used.after_one_time_code(&seed, &seed.code(at(3_030)), at(3_031)).is_some());
    }

    #[test]
    fn a_recovery_code_counts_once_however_it_is_typed() {
        let (factor, _) = factor(TotpSeed::from_random([7; 20]));
        let code = RecoveryCode::from_random([2; 10]);
        assert_eq!(code.shown(), "aiba-eaqc-aiba-eaqc");
        let typed = RecoveryCode::parse(" AIBA eaqc-aiba-EAQC ").unwrap();
        let used = factor.after_recovery_code(&typed).unwrap();
        assert_eq!(used.recovery_codes.len(), 1);
        assert!(used.after_recovery_code(&typed).is_none());
        assert!(used.after_recovery_code(&RecoveryCode::from_random([3; 10])).is_none());
        for text in [
            "",
            "287082",
            "aiba-eaqc-aiba-eaq",
            "aiba-eaqc-aiba-eaqcc",
            "aiba-eaqc-aiba-eaq1",
            "ébba-eaqc-aiba-eaqc",
        ] {
            assert!(RecoveryCode::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn debug_output_hides_secrets() {
        let (factor, seed) = factor(TotpSeed::from_random([0x41; 20]));
        let code = RecoveryCode::from_random([0x41; 10]);
        let printed = format!("{factor:?} {seed:?} {code:?}");
        assert!(!printed.contains("65") && !printed.contains("ifau"), "{printed}");
    }

    proptest! {
        #[test]
        fn whatever_is_typed_is_judged_without_a_panic(text in ".{0,40}", seed in any::<[u8; 20]>(), seconds in 0_u64..9_999_999_999) {
            let (factor, seed) = factor(TotpSeed::from_random(seed));
            let used = factor.after_one_time_code(&seed, &text, at(seconds));
            prop_assert!(used.is_none() || text.split_whitespace().collect::<String>().len() == 6);
            let _ = RecoveryCode::parse(&text);
        }

        #[test]
        fn a_shown_recovery_code_reads_back(bytes in any::<[u8; 10]>()) {
            let code = RecoveryCode::from_random(bytes);
            prop_assert_eq!(RecoveryCode::parse(&code.shown()), Some(code));
        }
    }
}
