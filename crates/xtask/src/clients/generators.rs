//! The checks: linters, and generators with the commands that compile and try their clients.

use std::path::Path;

use super::{Step, Workshop};

/// The document for clients in OpenAPI 3.1: its file, and its path on the program.
const CURRENT: (&str, &str) = ("openapi.json", "/openapi.json?internal=false");

/// The document for clients in OpenAPI 3.0.
const OLDER: (&str, &str) = ("openapi-3.0.json", "/openapi-3.0.json?internal=false");

/// The documents that the linters check as a whole.
const WHOLE: [(&str, &str); 2] = [("whole.json", "/openapi.json"), ("whole-3.0.json", "/openapi-3.0.json")];

/// Every document that a run fetches.
pub(super) const DOCUMENTS: [(&str, &str); 4] = [CURRENT, OLDER, WHOLE[0], WHOLE[1]];

/// One check.
pub(super) struct Check {
    pub(super) name: &'static str,
    /// The files that its commands find in its folder, and their contents.
    pub(super) files: &'static [(&'static str, &'static str)],
    /// Its commands, given its folder.
    pub(super) steps: fn(&Workshop, &Path) -> Vec<Step>,
}

/// The files of a folder of TypeScript sources.
const PACKAGE: (&str, &str) = ("package.json", include_str!("package.json"));
const COMPILER: (&str, &str) = ("tsconfig.json", include_str!("tsconfig.json"));

/// The settings of hey-api. Node needs the ends of file names in imports.
const HEY: &str = "export default {\n  input: process.env.DOCUMENT,\n  \
                   output: { path: \"client\", importFileExtension: \".js\" },\n};\n";

/// Every check.
pub(super) static CHECKS: [Check; 13] = [
    Check { name: "openapi-generator-validate", files: &[], steps: validated },
    Check { name: "redocly", files: &[], steps: redocly },
    Check { name: "spectral", files: &[("rules.yaml", "extends: ['spectral:oas']\n")], steps: spectral },
    Check {
        name: "openapi-python-client",
        files: &[("config.yaml", "post_hooks: []\n"), ("journey.py", include_str!("journey.py"))],
        steps: openapi_python_client,
    },
    Check {
        name: "openapi-typescript",
        files: &[PACKAGE, COMPILER, ("journey.ts", include_str!("journey_fetch.ts"))],
        steps: openapi_typescript,
    },
    Check {
        name: "hey-api",
        files: &[PACKAGE, COMPILER, ("hey.config.mjs", HEY), ("journey.ts", include_str!("journey_hey.ts"))],
        steps: hey_api,
    },
    Check { name: "openapi-generator-python", files: &[], steps: generated_python },
    Check { name: "openapi-generator-typescript", files: &[PACKAGE, COMPILER], steps: generated_typescript },
    Check { name: "openapi-generator-rust", files: &[], steps: generated_rust },
    Check {
        name: "openapi-generator-go",
        files: &[("answers_test.go", include_str!("answers_test.go"))],
        steps: generated_go,
    },
    Check {
        name: "openapi-generator-php",
        files: &[("load_classes.php", include_str!("load_classes.php"))],
        steps: generated_php,
    },
    Check { name: "openapi-generator-java", files: &[], steps: generated_java },
    Check { name: "progenitor", files: &[], steps: progenitor },
];

fn all_documents(shop: &Workshop) -> impl Iterator<Item = String> {
    DOCUMENTS.iter().map(|(name, _)| shop.document(name).display().to_string())
}

fn validated(shop: &Workshop, folder: &Path) -> Vec<Step> {
    let validator = shop.tools.python("openapi-generator-cli");
    let validate =
        |document: String| Step::new(&validator, folder, ["validate".to_owned(), "-i".to_owned(), document]);
    all_documents(shop).map(validate).collect()
}

fn redocly(shop: &Workshop, folder: &Path) -> Vec<Step> {
    let arguments = std::iter::once("lint".to_owned()).chain(all_documents(shop));
    vec![Step::new(shop.tools.node("redocly"), folder, arguments)]
}

fn spectral(shop: &Workshop, folder: &Path) -> Vec<Step> {
    let arguments = ["lint", "-r", "rules.yaml"].map(str::to_owned).into_iter().chain(all_documents(shop));
    vec![Step::new(shop.tools.node("spectral"), folder, arguments)]
}

fn openapi_python_client(shop: &Workshop, folder: &Path) -> Vec<Step> {
    let document = shop.document(CURRENT.0).display().to_string();
    let arguments = [
        "generate",
        "--fail-on-warning",
        "--config",
        "config.yaml",
        "--output-path",
        "client",
        "--path",
        &document,
    ];
    let generate = Step::new(shop.tools.python("openapi-python-client"), folder, arguments);
    let python = shop.tools.python("python");
    let compile = Step::new(&python, folder, ["-m", "compileall", "-q", "client"]);
    let journey =
        Step::new(&python, folder, ["journey.py", &shop.api, &shop.key]).with("PYTHONPATH", "client");
    vec![generate, compile, journey]
}

/// Lets TypeScript sources in the folder find the packages of the tools.
fn packages(shop: &Workshop, folder: &Path) -> Step {
    let packages = shop.tools.node_modules().display().to_string();
    Step::new("ln", folder, ["-s", &packages, "node_modules"])
}

/// Compiles the folder, and runs the compiled journey.
fn typescript_journey(shop: &Workshop, folder: &Path) -> [Step; 2] {
    let compile = Step::new(shop.tools.node("tsc"), folder, ["-p", "."]);
    [compile, Step::new("node", folder, ["compiled/journey.js", &shop.api, &shop.key])]
}

fn openapi_typescript(shop: &Workshop, folder: &Path) -> Vec<Step> {
    let document = shop.document(CURRENT.0).display().to_string();
    let generate = Step::new(shop.tools.node("openapi-typescript"), folder, [&document, "-o", "schema.d.ts"]);
    [packages(shop, folder), generate].into_iter().chain(typescript_journey(shop, folder)).collect()
}

fn hey_api(shop: &Workshop, folder: &Path) -> Vec<Step> {
    let document = shop.document(CURRENT.0).display().to_string();
    let generate =
        Step::new(shop.tools.node("openapi-ts"), folder, ["-f", "hey.config.mjs"]).with("DOCUMENT", document);
    [packages(shop, folder), generate].into_iter().chain(typescript_journey(shop, folder)).collect()
}

/// The client of openapi-generator for a language, in the folder `client`.
fn generated(shop: &Workshop, folder: &Path, language: &str) -> Step {
    let document = shop.document(CURRENT.0).display().to_string();
    let arguments = ["generate", "-i", &document, "-g", language, "-o", "client"];
    Step::new(shop.tools.python("openapi-generator-cli"), folder, arguments)
}

fn generated_python(shop: &Workshop, folder: &Path) -> Vec<Step> {
    let [pip, python] = ["pip", "python"].map(|name| folder.join("environment/bin").join(name));
    let import_all = "import pkgutil, importlib, openapi_client\n\
                      for module in pkgutil.walk_packages(openapi_client.__path__, 'openapi_client.'):\n    \
                      importlib.import_module(module.name)";
    vec![
        generated(shop, folder, "python"),
        // Of its own, so that the packages of the tools stay as they are.
        Step::new("python3", folder, ["-m", "venv", "environment"]),
        Step::new(&pip, folder, ["install", "--quiet", "-r", "client/requirements.txt"]),
        Step::new(&python, folder, ["-c", import_all]).with("PYTHONPATH", "client"),
    ]
}

fn generated_typescript(shop: &Workshop, folder: &Path) -> Vec<Step> {
    // This generator writes imports without file names, as bundlers take them.
    let compile = ["-p", ".", "--noEmit", "--module", "esnext", "--moduleResolution", "bundler"];
    vec![
        packages(shop, folder),
        generated(shop, folder, "typescript-fetch"),
        Step::new(
            shop.tools.node("tsc"),
            folder,
            compile.into_iter().chain(["--noUncheckedIndexedAccess", "false"]),
        ),
    ]
}

fn checked_rust(shop: &Workshop, folder: &Path) -> Step {
    Step::new("cargo", &folder.join("client"), ["check", "--quiet"])
        .with("CARGO_TARGET_DIR", shop.tools.rust_target())
        .with("CARGO_INCREMENTAL", "0")
}

/// Keeps a generated crate out of the workspace around it.
fn own_workspace(folder: &Path) -> Step {
    Step::new("sh", folder, ["-c", "printf '\\n[workspace]\\n' >> client/Cargo.toml"])
}

fn generated_rust(shop: &Workshop, folder: &Path) -> Vec<Step> {
    vec![generated(shop, folder, "rust"), own_workspace(folder), checked_rust(shop, folder)]
}

fn generated_go(shop: &Workshop, folder: &Path) -> Vec<Step> {
    // Debian has the one dependency; modules would need a network.
    let sources = folder.join("go/src/client");
    let path = format!("{}:/usr/share/gocode", folder.join("go").display());
    let copy = format!("mkdir -p {0} && cp client/*.go answers_test.go {0}", sources.display());
    let test = "cd go/src/client && go vet . && go test .";
    vec![
        generated(shop, folder, "go"),
        Step::new("sh", folder, ["-c", &copy]),
        Step::new("sh", folder, ["-c", test]).with("GO111MODULE", "off").with("GOPATH", path),
    ]
}

fn generated_php(shop: &Workshop, folder: &Path) -> Vec<Step> {
    vec![generated(shop, folder, "php"), Step::new("php", folder, ["load_classes.php", "client"])]
}

fn generated_java(shop: &Workshop, folder: &Path) -> Vec<Step> {
    vec![generated(shop, folder, "java")]
}

fn progenitor(shop: &Workshop, folder: &Path) -> Vec<Step> {
    let document = shop.document(OLDER.0).display().to_string();
    let arguments = ["progenitor", "-i", &document, "-o", "client", "-n", "signpost-client", "-v", "0.1.0"];
    let generate = Step::new(shop.tools.progenitor(), folder, arguments);
    vec![generate, own_workspace(folder), checked_rust(shop, folder)]
}
