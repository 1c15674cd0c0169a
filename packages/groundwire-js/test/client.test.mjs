// The client against a real server over the miniature web; see tests/real/test_javascript.py for what it is given.

import assert from "node:assert/strict";
import test from "node:test";

import { Groundwire, GroundwireError } from "groundwire";

const { GROUNDWIRE_URL: baseUrl, GROUNDWIRE_KEY: apiKey, PAGE_URL: url } = process.env;
const web = new Groundwire({ baseUrl: `${baseUrl}/`, apiKey, session: "client" });
const query = "reciprocal rank fusion";
const PARAMETERS = { type: "object", properties: { query: { type: "string" } }, required: ["query"] };

test("searching, reading and checking, in a session", async () => {
  const found = await web.search({ query, limit: 2 });
  assert.equal(found.results.length, 2);
  const page = await web.openPage(url);
  assert.equal(page.status, "success");
  assert.match(page.content, /rank/i);
  const pages = await web.openPages([url, "http://127.0.0.1:9/"]);
  assert.deepEqual(pages.map(({ status }) => status), ["success", "error"]);
  const sentence = page.content.split("\n").find((line) => line.length > 60 && !line.startsWith("#"));
  const report = await web.verify({ answer: `${sentence} [${page.citation_id}]` });
  assert.equal(report.supported, true);
  assert.equal((await web.session("client")).searches, 1);
  assert.equal((await web.resetSession("client")).searches, 1);
});

test("attempts are told as they happen", async () => {
  const events = [];
  const found = await web.search({ query, refresh: true }, { onAttempt: (event) => events.push(event) });
  assert.ok(found.results.length > 0);
  assert.deepEqual(events.map(({ type }) => type), ["attempt_started", "attempt_finished"]);
  assert.equal(events[1].attempt.outcome, "ok");
  await assert.rejects(web.openPage("http://127.0.0.1:9/", { onAttempt() {} }), { name: "GroundwireError" });
});

test("the tools of a model, and who searches for it", async () => {
  assert.match(await web.toolText("web_search", { query }), /^Search results for: .*<\/web_content_/s);
  const local = await web.callTool("search", { query, max_results: 1 });
  assert.deepEqual(Object.keys(local), ["query", "backend", "results"]);
  assert.equal((await web.resolve({ provider: "openai", model: "gpt-6.1-sol" })).path, "native");
  const body = { model: "claude-sonnet-5", max_tokens: 9, messages: [{ role: "user", content: "?" }] };
  const prepared = await web.prepare(body, { provider: "anthropic", tool: "search" });
  assert.deepEqual(prepared, { ...body, tools: [{ type: "web_search_20250305", name: "web_search" }] });
  const warnings = [];
  const tool = { type: "function", function: { name: "web_search", parameters: PARAMETERS } };
  const chat = { model: "gpt-6.2-sol", messages: body.messages, tools: [tool] };
  const onWarning = (warning) => warnings.push(warning);
  const changed = await web.prepare(chat, { provider: "openai" }, { onWarning });
  assert.notEqual(changed.model, chat.model);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0], new RegExp(changed.model));
});

test("failures", async () => {
  const said = { name: "GroundwireError", status: 400, code: "invalid_request", field: "limit" };
  await assert.rejects(web.search({ query, limit: 500 }), said);
  await assert.rejects(new Groundwire({ baseUrl, apiKey: "gw_wrong" }).search(query), { status: 401 });
  const nowhere = new Groundwire({ baseUrl: "http://127.0.0.1:9" });
  await assert.rejects(nowhere.search(query), (error) => error instanceof GroundwireError && error.status === 0);
  assert.match(await nowhere.toolText("web_search", { query }), /^web_search failed: .*groundwire serve/);
  const ended = AbortSignal.abort();
  await assert.rejects(web.search(query, { signal: ended }), { name: "AbortError" });
  await assert.rejects(web.toolText("web_search", { query }, { signal: ended }), { name: "AbortError" });
  const other = new Groundwire({ baseUrl, fetch: async () => new Response("<html>", { status: 502 }) });
  await assert.rejects(other.search(query), { status: 502, code: "unexpected_response" });
  const broken = () => new Response(new ReadableStream({ start: (body) => body.error(new TypeError("terminated")) }));
  const cut = new Groundwire({ baseUrl, fetch: async () => broken() });
  await assert.rejects(cut.search(query), { status: 0, code: "unreachable" });
  await assert.rejects(cut.search(query, { onAttempt() {} }), { status: 0, code: "unreachable" });
  assert.match(await cut.toolText("web_search", { query }), /^web_search failed: .*terminated/);
  const model = new Groundwire({ baseUrl, fetch: async () => Response.json({ error: "no model" }, { status: 404 }) });
  await assert.rejects(model.search(query), { status: 404, code: "unexpected_response" });
});
