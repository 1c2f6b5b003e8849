// Creates, lists, updates and deletes a landing page with the client of hey-api.
import assert from "node:assert/strict";
import { client } from "./client/client.gen.js";
import { createLanding, deleteLanding, getLanding, listLandings, updateLanding } from "./client/sdk.gen.js";

const [baseUrl, key] = process.argv.slice(2);
client.setConfig({ baseUrl: baseUrl!, auth: () => key! });
const widgets = [{ type: "heading" as const, text: "Read" }];
const created = await createLanding({ body: { title: "TypeScript", widgets } });
const id = created.data!.id;
const heading = created.data!.widgets![0]!;
assert.ok(heading.type === "heading" && heading.text === "Read");
const page = await listLandings({ query: { limit: 1 } });
assert.deepEqual(page.data!.data.map((item) => item.id), [id]);
const updated = await updateLanding({ path: { id }, body: { description: null, slug: "from-hey" } });
assert.ok(updated.data!.url!.endsWith("/from-hey"));
const deleted = await deleteLanding({ path: { id } });
assert.equal(deleted.data!.deleted, true);
const missing = await getLanding({ path: { id } });
assert.equal(missing.error!.error.code, "landing_not_found");
