//! The files of `packaging` are well formed, and agree with each other and with the workspace.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Output};

use yaml_rust2::{Yaml, YamlLoader};

use super::contents::units;
use super::debian::{FOLDER, SCRIPTS};
use super::elf::FLOOR;
use super::image::{FROM_SOURCES, RECIPE, debian_release};
use super::release::{entries, version};
use super::tree::Tree;
use crate::repository::Repository;
use crate::tool_folder::runs;

/// The compose files, and the files that each is used with.
const COMPOSE: [&[&str]; 2] =
    [&["packaging/compose.yaml"], &["packaging/compose.yaml", "packaging/compose.postgres.yaml"]];

fn repository() -> Repository {
    Repository::of_this_crate().unwrap()
}

fn text(path: &str) -> String {
    repository().text(path).unwrap().unwrap()
}

fn workspace_version() -> String {
    version(&text("Cargo.toml")).unwrap()
}

/// The keys of a mapping; none for anything else.
fn keys(yaml: &Yaml) -> BTreeSet<String> {
    let keys = yaml.as_hash().into_iter().flat_map(|mapping| mapping.keys());
    keys.map(|key| key.as_str().unwrap().to_owned()).collect()
}

fn strings(yaml: &Yaml) -> Vec<&str> {
    yaml.as_vec().into_iter().flatten().map(|item| item.as_str().unwrap()).collect()
}

/// The documents of compose files that are used together.
fn documents(paths: &[&str]) -> Vec<Yaml> {
    paths
        .iter()
        .map(|path| {
            let documents = YamlLoader::load_from_str(&text(path)).unwrap();
            let [document] = documents.as_slice() else { panic!("{path} is not one document") };
            document.clone()
        })
        .collect()
}

fn union(documents: &[Yaml], key: &str) -> BTreeSet<String> {
    documents.iter().flat_map(|document| keys(&document[key])).collect()
}

#[test]
fn services_of_compose_files_depend_on_services_and_volumes_that_exist() {
    for paths in COMPOSE {
        let documents = documents(paths);
        let services = union(&documents, "services");
        let volumes = union(&documents, "volumes");
        for document in &documents {
            for name in keys(&document["services"]) {
                let service = &document["services"][name.as_str()];
                assert!(keys(&service["depends_on"]).is_subset(&services), "{paths:?} {name}");
                for volume in strings(&service["volumes"]) {
                    let source = volume.split(':').next().unwrap();
                    let is_a_path = source.starts_with('.') || source.starts_with('/');
                    assert!(is_a_path || volumes.contains(source), "{paths:?} {name}: {volume}");
                }
            }
        }
    }
}

#[test]
fn compose_files_name_the_version_of_the_workspace() {
    let ours = format!("signpost:{}", workspace_version());
    for document in documents(COMPOSE[1]) {
        for name in keys(&document["services"]) {
            let Some(image) = document["services"][name.as_str()]["image"].as_str() else { continue };
            let tag = image.rsplit_once(':').unwrap_or_else(|| panic!("{image} has no tag")).1;
            assert!(tag != "latest", "{image} may change its schema");
            assert!(!image.starts_with("signpost") || image == ours, "{image} is not {ours}");
        }
    }
}

#[test]
fn services_start_when_what_they_need_is_healthy() {
    let [alone, with_servers] = documents(COMPOSE[1]).try_into().unwrap();
    let check = strings(&alone["services"]["signpost"]["healthcheck"]["test"]);
    assert_eq!(check, ["CMD", "signpost", "health"]);
    let services = &with_servers["services"];
    let condition = |service: &str, needed: &str| {
        services[service]["depends_on"][needed]["condition"].as_str().unwrap().to_owned()
    };
    assert_eq!(condition("signpost", "migrate"), "service_completed_successfully");
    assert_eq!(condition("signpost", "redis"), "service_healthy");
    assert_eq!(condition("migrate", "postgres"), "service_healthy");
    for server in ["postgres", "redis"] {
        assert!(!strings(&services[server]["healthcheck"]["test"]).is_empty(), "{server}");
    }
    assert_eq!(services["migrate"]["restart"].as_str(), Some("no"));
}

/// The names of variables such as `SIGNPOST_API_LISTEN` in a text.
fn variables(text: &str) -> BTreeSet<&str> {
    let is_part = |character: char| character == '_' || character.is_ascii_uppercase();
    let words = text.split(|character: char| !is_part(character));
    words.filter(|word| word.starts_with("SIGNPOST_")).collect()
}

#[test]
fn every_setting_in_the_packaging_is_documented() {
    let documents: Vec<String> = repository()
        .files()
        .iter()
        .filter(|path| path.as_str() == "README.md" || path.as_str() == "docs/settings.md")
        .map(|path| text(path))
        .collect();
    for path in COMPOSE[1].iter().chain(&[RECIPE, FROM_SOURCES]) {
        for variable in variables(&text(path)) {
            let setting = variable.strip_prefix("SIGNPOST_").unwrap().to_lowercase().replace('_', "-");
            let row = format!("| `{setting}` |");
            assert!(documents.iter().any(|document| document.contains(&row)), "{path}: {variable}");
        }
    }
}

/// The instructions for the running container, with continued lines joined.
fn runtime_instructions(containerfile: &str) -> Vec<String> {
    const INSTRUCTIONS: [&str; 9] = [
        "ENV ",
        "USER ",
        "WORKDIR ",
        "VOLUME ",
        "EXPOSE ",
        "HEALTHCHECK ",
        "STOPSIGNAL ",
        "ENTRYPOINT ",
        "CMD ",
    ];
    let last_stage = containerfile.rsplit_once("\nFROM ").unwrap().1.replace("\\\n", "");
    let is_instruction = |line: &&str| INSTRUCTIONS.iter().any(|instruction| line.starts_with(instruction));
    last_stage.lines().filter(is_instruction).map(str::to_owned).collect()
}

#[test]
fn both_images_run_the_program_in_the_same_way() {
    let [sources, release] = [FROM_SOURCES, RECIPE].map(|path| runtime_instructions(&text(path)));
    assert_eq!(sources, release);
    assert_eq!(release.len(), 9, "{release:?}");
    assert!(release.iter().any(|line| line.ends_with(r#"CMD ["signpost", "health"]"#)), "{release:?}");
    assert!(debian_release(&text(FROM_SOURCES)).is_ok());
}

#[test]
fn the_package_depends_on_the_c_library_that_programs_are_built_for() {
    let control = text(&format!("{FOLDER}/control"));
    let depends = format!("Depends: libc6 (>= {}.{}), ca-certificates", FLOOR.0, FLOOR.1);
    assert!(control.lines().any(|line| line == depends), "{control}");
    for field in ["Version:", "Architecture:", "Installed-Size:"] {
        assert!(!control.contains(field), "the build adds {field}");
    }
}

#[test]
fn the_changelog_has_an_entry_for_the_next_release() {
    let entries = entries(&text("CHANGELOG.md")).unwrap();
    let newest = entries.first().unwrap();
    let is_next = newest.version.as_ref().is_none_or(|newest| *newest == workspace_version());
    assert!(is_next, "the newest entry is {:?}", newest.version);
    assert!(newest.lines.iter().any(|line| line.starts_with("- ")), "the newest entry is empty");
}

fn assert_success(command: &mut Command) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = [stdout, stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(status.success() && text.is_empty(), "{command:?} ended with {status}:\n{text}");
}

#[test]
fn scripts_of_the_package_are_portable() {
    let repository = repository();
    for script in SCRIPTS {
        let path = repository.root().join(FOLDER).join(script);
        assert_success(Command::new("sh").arg("-n").arg(&path));
        if runs("shellcheck", "--version") {
            assert_success(Command::new("shellcheck").arg(&path));
        }
    }
}

#[test]
fn a_removal_stops_every_unit() {
    let script = text(&format!("{FOLDER}/prerm"));
    let stopped = script.lines().find_map(|line| line.trim().strip_prefix("for unit in ")).unwrap();
    let stopped: Vec<&str> = stopped.trim_end_matches("; do").split(' ').collect();
    for unit in units(repository().root()).unwrap() {
        assert!(stopped.contains(&unit.as_str()), "{unit} is not stopped");
    }
}

/// `systemd-analyze` verifies units in another root since version 250.
fn can_verify_units() -> bool {
    let output = Command::new("systemd-analyze").arg("--version").output();
    let version = output.ok().and_then(|output| {
        let text = String::from_utf8(output.stdout).ok()?;
        text.split_whitespace().nth(1)?.parse::<u32>().ok()
    });
    version.is_some_and(|version| version >= 250)
}

#[test]
fn systemd_accepts_the_units() {
    if !can_verify_units() {
        println!("not run: systemd-analyze is missing or older than 250");
        return;
    }
    let repository = repository();
    let folder = tempfile::tempdir().unwrap();
    let root = Tree::new(folder.path().join("root")).unwrap();
    // Units name the program with or without its folder.
    for program in ["usr/bin/signpost", "usr/local/bin/signpost"] {
        root.script(program, "#!/bin/sh\n").unwrap();
    }
    let units = units(repository.root()).unwrap();
    for unit in &units {
        let source = fs::read(repository.root().join("packaging").join(unit)).unwrap();
        root.file(&format!("usr/lib/systemd/system/{unit}"), source).unwrap();
    }
    let mut verify = Command::new("systemd-analyze");
    verify.args(["verify", "--man=no", "--recursive-errors=no"]);
    verify.arg(format!("--root={}", root.path().display())).args(&units);
    assert_success(&mut verify);
}
