//! What a built program needs from the system on which it starts.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use object::LittleEndian;
use object::elf::{DT_NEEDED, FileHeader64, Machine};
use object::read::elf::{Dyn as _, FileHeader as _};

use super::processor::Processor;

/// The version of the GNU C library that every supported distribution has at least: that of Debian 10 and Red Hat 8.
pub(super) const FLOOR: (u32, u32) = (2, 28);

/// The libraries that the C library consists of. A program that needs another does not start where that is missing.
const OF_THE_C_LIBRARY: [&str; 6] =
    ["libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libutil.so.1"];

/// The prefix of the dynamic linker's name, which is a library of the C library too.
const LINKER: &str = "ld-linux-";

/// What the dynamic section of a program says.
#[derive(Debug, Default, PartialEq, Eq)]
struct Needs {
    machine: Machine,
    libraries: Vec<String>,
    /// The versions of symbols, such as `GLIBC_2.28`.
    versions: Vec<String>,
}

/// Checks that the program starts on systems with the C library [`FLOOR`] and this processor.
pub(super) fn check(program: &Path, processor: Processor) -> Result<()> {
    let bytes = fs::read(program).with_context(|| format!("cannot read {}", program.display()))?;
    let needs = Needs::read(&bytes).with_context(|| format!("{} cannot be parsed", program.display()))?;
    needs.judge(processor).with_context(|| program.display().to_string())
}

impl Needs {
    fn read(bytes: &[u8]) -> Result<Self> {
        let header = FileHeader64::<LittleEndian>::parse(bytes)?;
        let endian = header.endian()?;
        let sections = header.sections(endian, bytes)?;
        let mut needs = Self { machine: header.e_machine(endian), ..Self::default() };
        if let Some((entries, link)) = sections.dynamic(endian, bytes)? {
            let strings = sections.strings(endian, bytes, link)?;
            for entry in entries.iter().filter(|entry| entry.tag(endian) == DT_NEEDED) {
                needs.libraries.push(text(entry.string(endian, strings)?));
            }
        }
        if let Some((mut libraries, link)) = sections.gnu_verneed(endian, bytes)? {
            let strings = sections.strings(endian, bytes, link)?;
            while let Some((_, mut versions)) = libraries.next()? {
                while let Some(version) = versions.next()? {
                    needs.versions.push(text(version.name(endian, strings)?));
                }
            }
        }
        Ok(needs)
    }

    fn judge(&self, processor: Processor) -> Result<()> {
        ensure!(self.machine == processor.of_elf(), "the program is not for {}", processor.name());
        let other = self
            .libraries
            .iter()
            .find(|library| !OF_THE_C_LIBRARY.contains(&library.as_str()) && !library.starts_with(LINKER));
        if let Some(library) = other {
            bail!("the program needs the library {library}, which some systems lack");
        }
        // Without any version the program would be static, whose name look-ups crash beside newer C libraries.
        ensure!(!self.versions.is_empty(), "the program does not use the system's C library");
        for version in &self.versions {
            if version_of_glibc(version)? > FLOOR {
                bail!("the program needs {version}, and GLIBC_{}.{} must suffice", FLOOR.0, FLOOR.1);
            }
        }
        Ok(())
    }
}

/// The number in a version such as `GLIBC_2.2.5`, without its third part.
fn version_of_glibc(version: &str) -> Result<(u32, u32)> {
    let number = version.strip_prefix("GLIBC_").and_then(|number| {
        let mut parts = number.split('.').map(str::parse);
        Some((parts.next()?.ok()?, parts.next()?.ok()?))
    });
    number.with_context(|| format!("{version} is no version of the C library"))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{Needs, Processor, version_of_glibc};

    fn needs(libraries: &[&str], versions: &[&str]) -> Needs {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Needs { machine: Processor::X86_64.of_elf(), libraries: owned(libraries), versions: owned(versions) }
    }

    fn refusal(needs: &Needs) -> String {
        needs.judge(Processor::X86_64).unwrap_err().to_string()
    }

    #[test]
    fn a_program_for_the_floor_passes() {
        let libraries = ["libm.so.6", "libc.so.6", "ld-linux-x86-64.so.2"];
        needs(&libraries, &["GLIBC_2.2.5", "GLIBC_2.28"]).judge(Processor::X86_64).unwrap();
    }

    #[test]
    fn a_newer_c_library_is_refused() {
        let newer = needs(&["libc.so.6"], &["GLIBC_2.17", "GLIBC_2.34"]);
        assert_eq!(refusal(&newer), "the program needs GLIBC_2.34, and GLIBC_2.28 must suffice");
    }

    #[test]
    fn another_library_is_refused() {
        assert!(refusal(&needs(&["libssl.so.3"], &["GLIBC_2.17"])).contains("libssl.so.3"));
        assert!(refusal(&needs(&["libc.so.6"], &["GCC_3.0"])).contains("GCC_3.0"));
    }

    #[test]
    fn a_static_program_and_one_for_another_processor_are_refused() {
        assert!(refusal(&needs(&[], &[])).contains("C library"));
        let other = Needs { machine: Processor::Aarch64.of_elf(), ..needs(&["libc.so.6"], &["GLIBC_2.17"]) };
        assert_eq!(refusal(&other), "the program is not for x86_64");
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        assert!(version_of_glibc("GLIBC_2.4").unwrap() < version_of_glibc("GLIBC_2.17").unwrap());
        assert_eq!(version_of_glibc("GLIBC_2.2.5").unwrap(), (2, 2));
        assert!(version_of_glibc("GLIBC_PRIVATE").is_err());
    }

    #[test]
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn the_needs_of_this_test_are_read() {
        let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let needs = Needs::read(&bytes).unwrap();
        assert!(needs.libraries.iter().any(|library| library == "libc.so.6"), "{needs:?}");
        assert!(needs.versions.iter().any(|version| version.starts_with("GLIBC_2.")), "{needs:?}");
    }
}
