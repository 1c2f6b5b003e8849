"""Rules of the API that no JSON schema can express.

Schemathesis expects that the API accepts a request which matches the schema, and that a 404 is about the resource in the
path. This file lists the refusals with other causes than the form of the request, by error code, or by field and code of
the violation. Any other refusal of a request that matches the schema is a defect of the document or of the API.
"""

import re

import schemathesis
from hypothesis import strategies
from schemathesis.openapi.checks import EnsureResourceAvailability, RejectedPositiveData

# Targets that all URL parsers read the same way, which the document's pattern cannot express.
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
    # The domain of a link after an update depends on the stored link.
    "slug_required_for_system_domain",
    # The operator sets the hostnames of the installation.
    "hostname_is_system_domain",
}

VIOLATIONS = {
    # A cursor belongs to one account, one list and one filter, and carries a checksum.
    ("cursor", "invalid_format"),
    # A regular expression cannot express which hosts all URL parsers read the same way.
    ("target_url", "invalid_format"),
    # The link's own address, or a host on the operator's block list.
    ("target_url", "invalid_value"),
    # The fallback of a link follows the rules of targets, and its end comes after its start.
    ("fallback_url", "invalid_format"),
    ("fallback_url", "invalid_value"),
    ("patch.fallback_url", "invalid_format"),
    ("patch.fallback_url", "invalid_value"),
    ("expires_at", "invalid_value"),
    ("patch.expires_at", "invalid_value"),
    # The format of instants has years before 1970.
    ("starts_at", "out_of_range"),
    ("expires_at", "out_of_range"),
    ("patch.starts_at", "out_of_range"),
    ("patch.expires_at", "out_of_range"),
    # The instant of a test, and which texts are IP addresses.
    ("at", "out_of_range"),
    ("address", "invalid_format"),
    # Browsers keep a permanent status and would pass dates, gates and pixels.
    ("redirect_status", "invalid_value"),
    ("patch.redirect_status", "invalid_value"),
    # A rule has one target or a split, only the last one may be without conditions, and names are not repeated.
    ("rules[]", "required"),
    ("rules[].conditions", "too_few_items"),
    ("rules[].name", "invalid_value"),
    ("rules[].split", "invalid_value"),
    ("rules[].split[].name", "invalid_value"),
    # The size of all rules together.
    ("rules", "too_long"),
    # The targets of rules follow the rules of targets.
    ("rules[].target_url", "invalid_format"),
    ("rules[].target_url", "invalid_value"),
    ("rules[].target_url", "too_long"),
    ("rules[].split[].target_url", "invalid_format"),
    ("rules[].split[].target_url", "invalid_value"),
    ("rules[].split[].target_url", "too_long"),
    # Fields of conditions that depend on each other, and the sets of time zones, hosts, networks and languages.
    ("rules[].conditions[]", "required"),
    ("rules[].conditions[].from", "out_of_range"),
    ("rules[].conditions[].until", "invalid_value"),
    ("rules[].conditions[].until", "out_of_range"),
    ("rules[].conditions[].value", "invalid_value"),
    ("rules[].conditions[].value", "required"),
    ("rules[].conditions[].timezone", "invalid_value"),
    ("rules[].conditions[].in[]", "invalid_format"),
    ("rules[].conditions[].in[]", "invalid_value"),
    # The target and the parameters of `utm` together, percent-encoded.
    ("utm", "too_long"),
    ("target_url", "too_long"),
    # A key belongs to one request, but the generator sends the same keys with many.
    ("Idempotency-Key", "invalid_value"),
    # Each vendor's ids have their own form, and pixels must exist in the account.
    ("pixel_id", "invalid_format"),
    ("pixel_ids[]", "invalid_value"),
    # The picture of a card follows the rules of targets.
    ("preview.image_url", "invalid_format"),
    # URLs of landing pages follow the rules of targets, and videos are allowed from some hosts only.
    ("avatar_url", "invalid_format"),
    ("avatar_url", "invalid_value"),
    ("widgets[].image_url", "invalid_format"),
    ("widgets[].image_url", "invalid_value"),
    ("widgets[].thumbnail_url", "invalid_format"),
    ("widgets[].thumbnail_url", "invalid_value"),
    ("widgets[].url", "invalid_format"),
    ("widgets[].url", "invalid_value"),
    # The length of labels of a hostname, and hostnames that no account can connect.
    ("hostname", "invalid_format"),
    ("hostname", "invalid_value"),
    ("hostname", "too_long"),
    # A regular expression cannot express which texts are hosts.
    ("target_host", "invalid_value"),
    ("filter.target_host", "invalid_value"),
    # The set of time zones. Dimensions are separated by commas, which a schema cannot express.
    ("timezone", "invalid_value"),
    ("dimensions", "invalid_value"),
    ("dimensions", "too_many_items"),
    # A period must not end before it starts, and has a limited number of buckets.
    ("start_date", "out_of_range"),
    ("interval", "out_of_range"),
    # The pattern allows instants and positions outside the valid range.
    ("after", "invalid_format"),
}

# The filters of analytics are separated by commas, with a backslash before literal commas.
FILTERS = {
    "browser",
    "channel",
    "country",
    "device",
    "language",
    "link",
    "os",
    "referrer",
    "rule",
    "utm_campaign",
    "utm_medium",
    "utm_source",
    "widget",
}
# The names of tags are separated by commas.
TAGS = {"tag", "tag_all", "without_tag"}
VIOLATIONS |= {(name, code) for name in TAGS for code in ("invalid_format", "too_long", "too_many_items", "too_short")}
VIOLATIONS |= {(name, code) for name in FILTERS for code in ("invalid_format", "too_long", "too_many_items")}

# The codes of a 404 about the resource in the path, by the second segment of the path.
NOT_FOUND = {
    "domains": "domain_not_found",
    "groups": "group_not_found",
    "landings": "landing_not_found",
    "redirects": "redirect_not_found",
}


VALID_KEY = re.compile(r"[!-~]{1,255}")


@schemathesis.hook
def before_call(context, case, kwargs):
    """Removes keys, because most requests would repeat other requests or misuse their keys. Invalid keys stay, and so do all
    keys in the phase that covers the headers one by one."""
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
