"""Rules of the API that no JSON schema can state.

Schemathesis expects that a request which fits the schema is accepted, and that a 404 is about the resource in the path.
Here are the answers to which something else led than the form of the request, by the error code, or by the field and the
code of the violation, that the API names. Any other refusal of a request that fits the schema is a mistake of the
document or of the API.
"""

import re

import schemathesis
from hypothesis import strategies
from schemathesis.openapi.checks import EnsureResourceAvailability, RejectedPositiveData

# Targets that every program reads in the same way; the document's pattern cannot say which those are.
LABELS = strategies.from_regex(r"[a-z]([a-z0-9-]{0,20}[a-z0-9])?|bücher|пример|例え", fullmatch=True)
TARGETS = strategies.builds(
    lambda scheme, labels, port, rest: scheme + "://" + ".".join(labels) + port + rest,
    strategies.sampled_from(["http", "https", "HTTPS"]),
    strategies.lists(LABELS, min_size=1, max_size=4),
    strategies.one_of(strategies.just(""), strategies.integers(0, 65535).map(lambda port: f":{port}")),
    strategies.from_regex(r"([/?#][!-Z^-~äß例🦀]{0,40})?", fullmatch=True),
)
schemathesis.openapi.format("http-url", TARGETS)

CODES = {
    # Which domain a link ends on depends on the link as it was.
    "slug_required_for_system_domain",
    # Which hostnames are the installation's own is for its operator to say.
    "hostname_is_system_domain",
}

VIOLATIONS = {
    # A cursor belongs to one account, one list and one filter, and carries a checksum.
    ("cursor", "invalid_format"),
    # Which hosts every program reads in the same way is beyond a regular expression.
    ("target_url", "invalid_format"),
    # A link's own address, and a host on the operator's list.
    ("target_url", "invalid_value"),
    # A key is for one request, and the same ones are sent with many.
    ("Idempotency-Key", "invalid_value"),
    # Each vendor's codes have a form of their own, and which pixels there are is known to the account.
    ("pixel_id", "invalid_format"),
    ("pixel_ids[]", "invalid_value"),
    # URLs of landing pages are judged as targets are, and videos are taken from some hosts only.
    ("avatar_url", "invalid_format"),
    ("avatar_url", "invalid_value"),
    ("widgets[].image_url", "invalid_format"),
    ("widgets[].image_url", "invalid_value"),
    ("widgets[].thumbnail_url", "invalid_format"),
    ("widgets[].thumbnail_url", "invalid_value"),
    ("widgets[].url", "invalid_format"),
    ("widgets[].url", "invalid_value"),
    # How long the labels of a hostname may be, and which hostnames nobody can connect.
    ("hostname", "invalid_format"),
    ("hostname", "invalid_value"),
    ("hostname", "too_long"),
    # Which time zones there are. Dimensions are a list between commas, which a schema cannot describe.
    ("timezone", "invalid_value"),
    ("dimensions", "invalid_value"),
    ("dimensions", "too_many_items"),
    # A period must not end before it begins, and has a bounded number of buckets.
    ("start_date", "out_of_range"),
    ("interval", "out_of_range"),
    # The pattern takes instants and places that are beyond what there can be.
    ("after", "invalid_format"),
}

# The filters of analytics are lists between commas, with backslashes before literal ones.
FILTERS = {
    "browser",
    "channel",
    "country",
    "device",
    "language",
    "link",
    "os",
    "referrer",
    "utm_campaign",
    "utm_medium",
    "utm_source",
    "widget",
}
VIOLATIONS |= {(name, code) for name in FILTERS for code in ("invalid_format", "too_long", "too_many_items")}

# The codes of a 404 that is about the resource in the path, by the second part of the path.
NOT_FOUND = {
    "domains": "domain_not_found",
    "groups": "group_not_found",
    "landings": "landing_not_found",
    "redirects": "redirect_not_found",
}


VALID_KEY = re.compile(r"[!-~]{1,255}")


@schemathesis.hook
def before_call(context, case, kwargs):
    """Leaves out keys that would make most requests repetitions of others, or misuses of their keys. Invalid ones stay, and
    all of the phase that goes through the headers one by one."""
    key = (case.headers or {}).get("Idempotency-Key")
    is_coverage = case.meta is not None and case.meta.phase.name.value == "coverage"
    if isinstance(key, str) and VALID_KEY.fullmatch(key) and not is_coverage:
        del case.headers["Idempotency-Key"]


@schemathesis.hook
def filter_failure(context, failure, case, response):
    if isinstance(failure, RejectedPositiveData):
        return not is_beyond_the_schema(response)
    if isinstance(failure, EnsureResourceAvailability):
        return not is_about_what_the_body_names(case, response)
    return True


def is_beyond_the_schema(response):
    if response.status_code != 400:
        return False
    error = response.json()["error"]
    details = error.get("details", [])
    violations = [(re.sub(r"\[\d+\]", "[]", detail["field"]), detail["code"]) for detail in details]
    return error["code"] in CODES or (violations != [] and all(each in VIOLATIONS for each in violations))


def is_about_what_the_body_names(case, response):
    own = NOT_FOUND.get(case.operation.path.split("/")[2])
    code = response.json()["error"]["code"]
    return code.endswith("_not_found") and code != own
