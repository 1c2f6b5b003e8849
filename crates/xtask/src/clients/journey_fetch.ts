// Creates, lists, updates and deletes a redirect with the types of openapi-typescript.
import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { paths } from "./schema.js";

const [baseUrl, key] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl: baseUrl!, headers: { Authorization: `Bearer ${key}` } });
// @ts-expect-error `name` and `target_url` are required.
const wrong = await client.POST("/v1/redirects", { body: { nam: 1 } });
assert.equal(wrong.error?.error.code, "invalid_request");
const created = await client.POST("/v1/redirects", { body: { name: "TypeScript", target_url: "https://example.com/a" } });
const id = created.data!.id;
const page = await client.GET("/v1/redirects", { params: { query: { limit: 1 } } });
assert.deepEqual(page.data!.data.map((item) => item.id), [id]);
const path = { id };
const updated = await client.PATCH("/v1/redirects/{id}", { params: { path }, body: { note: null, slug: "from-fetch" } });
assert.ok(updated.data!.url!.endsWith("/from-fetch"));
const deleted = await client.DELETE("/v1/redirects/{id}", { params: { path } });
assert.equal(deleted.data!.deleted, true);
const missing = await client.GET("/v1/redirects/{id}", { params: { path } });
assert.equal(missing.error!.error.code, "redirect_not_found");
