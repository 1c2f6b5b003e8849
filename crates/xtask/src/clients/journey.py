"""Creates, lists, updates and deletes a redirect with the client of openapi-python-client."""
import sys

from signpost_api_client import AuthenticatedClient
from signpost_api_client.api.redirects import create_redirect, delete_redirect, get_redirect, list_redirects, update_redirect
from signpost_api_client.models import ErrorEnvelope, RedirectCreate, Redirect, RedirectPatch

client = AuthenticatedClient(base_url=sys.argv[1], token=sys.argv[2])
created = create_redirect.sync(client=client, body=RedirectCreate(name="Python", target_url="https://example.com/a"))
assert isinstance(created, Redirect) and created.pixels == [], created
created.additional_properties["of_a_newer_version"] = 1
assert Redirect.from_dict(created.to_dict()).to_dict() == created.to_dict()
page = list_redirects.sync(client=client, limit=1)
assert [item.id for item in page.data] == [created.id] and page.pagination.has_more is False, page
changes = RedirectPatch(note="by a generated client", slug="from-python")
updated = update_redirect.sync(created.id, client=client, body=changes)
assert updated.note == changes.note and updated.url.endswith("/from-python"), updated
deleted = delete_redirect.sync(created.id, client=client)
assert deleted.deleted is True, deleted
missing = get_redirect.sync(created.id, client=client)
assert isinstance(missing, ErrorEnvelope) and missing.error.code == "redirect_not_found", missing
