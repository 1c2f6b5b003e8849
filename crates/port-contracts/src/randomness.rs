//! The contract of [`Randomness`]. No test can show that its bytes are unpredictable. These cases show that it fills the
//! whole length, with different bytes each time.

use std::collections::HashSet;
use std::sync::Arc;

use signpost_app::ports::Randomness;

/// Makes the source under test.
pub type MakeRandomness = fn() -> Arc<dyn Randomness>;

type Case = fn(MakeRandomness);

macro_rules! table {
    (() $($module:ident { $($case:ident)* })*) => {
        const CASES: &[(&str, Case)] = &[$($((stringify!($case), $case),)*)*];
    };
}

crate::__randomness_cases! { [table] () }

/// Runs one case; [`randomness_contract!`](crate::randomness_contract) makes a test of each.
#[doc(hidden)]
pub fn run(_module: &str, case: &str, make: MakeRandomness) {
    let (_, run) =
        CASES.iter().find(|(name, _)| *name == case).expect("the list of tests is the list of cases");
    run(make);
}

/// Makes a test of every case of the contract of a source of random bytes. The argument names a function in
/// scope, `fn() -> Arc<dyn Randomness>`.
#[macro_export]
macro_rules! randomness_contract {
    ($make:ident) => {
        mod randomness {
            $crate::__randomness_cases! { [$crate::__tests] ($crate::randomness::run, $make) }
        }
    };
}

/// Passes the list of the cases to another macro, after that macro's own arguments.
#[doc(hidden)]
#[macro_export]
macro_rules! __randomness_cases {
    ([$($callback:tt)*] $arguments:tt) => {
        $($callback)* ! { $arguments
            bytes {
                every_byte_is_filled
                fills_are_distinct
                bits_are_balanced
            }
        }
    };
}

/// Every position, including the first and the last, takes many values at every length.
fn every_byte_is_filled(make: MakeRandomness) {
    let randomness = make();
    for length in [1_usize, 7, 8, 9, 16, 31, 32, 33, 100] {
        let mut seen = vec![HashSet::new(); length];
        for _ in 0..256 {
            let mut bytes = vec![0; length];
            randomness.fill(&mut bytes).unwrap();
            for (values, byte) in seen.iter_mut().zip(bytes) {
                values.insert(byte);
            }
        }
        // 256 draws out of 256 values give about 162 distinct values.
        assert!(seen.iter().all(|values| values.len() > 100), "length {length}");
    }
    randomness.fill(&mut []).unwrap();
}

fn fills_are_distinct(make: MakeRandomness) {
    let randomness = make();
    let generated: HashSet<[u8; 16]> = std::thread::scope(|scope| {
        let draw = || {
            let draws = (0..2_000).map(|_| {
                let mut bytes = [0; 16];
                randomness.fill(&mut bytes).unwrap();
                bytes
            });
            draws.collect::<Vec<_>>()
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(draw)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(generated.len(), 8_000);
}

/// A stuck or biased source makes keys that can be guessed.
fn bits_are_balanced(make: MakeRandomness) {
    let randomness = make();
    let mut bytes = vec![0_u8; 100_000];
    randomness.fill(&mut bytes).unwrap();
    for bit in 0..8 {
        let ones = bytes.iter().filter(|byte| *byte >> bit & 1 == 1).count();
        // Ten standard deviations to either side.
        assert!((48_400..=51_600).contains(&ones), "bit {bit} is set in {ones} of 100,000 bytes");
    }
}
