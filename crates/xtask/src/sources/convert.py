"""Writes the files of crates/enrichment/data from unpacked packages: convert.py KIND INPUT OUTPUT HEADER.

The packages have data for other languages. The output has one rule a line, with columns separated by tabs."""

import ast
import json
import pathlib
import sys


def agents(package):
    """The rules of uap-core. The package has them as calls of Python classes, which are parsed and not executed.

    Device rules name thousands of models; crates/enrichment/src/device.rs needs none of them."""
    kinds = {"UserAgentMatcher": "browser", "OSMatcher": "os"}
    tree = ast.parse((package / "ua_parser_builtins" / "matchers.py").read_text())
    rules = []
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and call.func.id in kinds:
            pattern, family, *_ = [*map(ast.literal_eval, call.args), None]
            rules.append((call.lineno, [kinds[call.func.id], pattern, family or ""]))
    return [rule for _, rule in sorted(rules)]


def crawlers(package):
    """One regular expression a line."""
    entries = json.loads((package / "crawleruseragents" / "crawler-user-agents.json").read_text())
    return [[entry["pattern"]] for entry in entries]


def categories(package):
    """Hosts with their categories. Entries with a path are about a page and not about a host."""
    mediums = {"search": "search", "social": "social", "email": "email", "paid": "display", "unknown": "referral",
               "referral": "referral"}
    hosts = {}
    for host, entry in json.loads((package / "package" / "lib" / "referrers.json").read_text()).items():
        host = host.lower().strip().removeprefix("www.")
        # Text after the slash is a page of the host; names without a top-level domain are apps.
        if "/" in host or "." not in host or host.startswith("com."):
            continue
        if entry["medium"] not in mediums:
            raise SystemExit(f"unknown medium {entry['medium']} of {host}")
        hosts[host] = mediums[entry["medium"]]
    return [[host, category] for host, category in sorted(hosts.items())]


def main(kind, package, output, header):
    rows = {"agents": agents, "crawlers": crawlers, "categories": categories}[kind](pathlib.Path(package))
    for row in rows:
        if any("\t" in column or "\n" in column for column in row) or row[0].startswith("#"):
            raise SystemExit(f"cannot write this as a line: {row}")
    lines = [f"# {line}" for line in header.splitlines()] + ["\t".join(row) for row in rows]
    pathlib.Path(output).write_text("\n".join(lines) + "\n")
    print(f"{output}: {len(rows)} lines")


main(*sys.argv[1:])
