// The tools in each framework's own agent loop or tool node, driven by the fake model that the framework ships.

import assert from "node:assert/strict";
import test from "node:test";

import { fakeModel } from "@langchain/core/testing";
import { HumanMessage } from "@langchain/core/messages";
import { Agent } from "@mastra/core/agent";
import { generateText, simulateReadableStream, stepCountIs } from "ai";
import { MockLanguageModelV4 } from "ai/test";

import * as ai from "groundwire/ai";
import * as langchain from "groundwire/langchain";
import * as mastra from "groundwire/mastra";

const { GROUNDWIRE_URL: baseUrl, GROUNDWIRE_KEY: apiKey, PAGE_URL: url } = process.env;
const server = (session) => ({ baseUrl, apiKey, session });
const PLAN = [
  ["web_search", { query: "reciprocal rank fusion", limit: 2 }],
  ["open_page", { url }],
  ["open_page", { url: "file:///etc/passwd" }],
];

function check(results, offered) {
  assert.deepEqual(offered, ["web_search", "open_page"]);
  assert.match(results[0], /^Search results for: reciprocal rank fusion.*<web_content_/s);
  assert.match(results[1], /^Cite as: \[1\]/);
  assert.match(results[2], /^The page could not be opened: /);
}

/** A fake model of the AI SDK that calls the tools of the plan in turn, then answers; it works for streams too. */
function scripted() {
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  let step = 0;
  const next = () => {
    const call = PLAN[step++];
    const part = call && { type: "tool-call", toolCallId: `call-${step}`, toolName: call[0], input: JSON.stringify(call[1]) };
    return { part, finishReason: { unified: call ? "tool-calls" : "stop", raw: undefined } };
  };
  return new MockLanguageModelV4({
    doGenerate: async () => {
      const { part, finishReason } = next();
      return { content: [part ?? { type: "text", text: "Done [1]." }], finishReason, usage, warnings: [] };
    },
    doStream: async () => {
      const { part, finishReason } = next();
      const text = [
        { type: "text-start", id: "1" },
        { type: "text-delta", id: "1", delta: "Done [1]." },
        { type: "text-end", id: "1" },
      ];
      const finish = { type: "finish", finishReason, usage };
      const chunks = [{ type: "stream-start", warnings: [] }, ...(part ? [part] : text), finish];
      return { stream: simulateReadableStream({ chunks }) };
    },
  });
}

const resultsIn = (prompt) =>
  prompt
    .filter(({ role }) => role === "tool")
    .flatMap(({ content }) => content.map(({ output }) => output.value));

test("the AI SDK", async () => {
  const model = scripted();
  const { text } = await generateText({ model, tools: ai.webTools(server("ai")), prompt: "?", stopWhen: stepCountIs(5) });
  assert.equal(text, "Done [1].");
  const last = model.doGenerateCalls.at(-1);
  check(resultsIn(last.prompt), last.tools.map(({ name }) => name));
});

test("Mastra", async () => {
  const model = scripted();
  const agent = new Agent({ id: "a", name: "a", instructions: "i", model, tools: mastra.webTools(server("mastra")) });
  const { text } = await agent.generate("?", { maxSteps: 5 });
  assert.equal(text, "Done [1].");
  const last = model.doStreamCalls.at(-1) ?? model.doGenerateCalls.at(-1);
  check(resultsIn(last.prompt), last.tools.map(({ name }) => name));
});

test("LangChain.js", async () => {
  const tools = langchain.webTools(server("langchain"));
  const model = fakeModel().respondWithTools(PLAN.map(([name, args]) => ({ name, args })));
  const answer = await model.bindTools(tools).invoke([new HumanMessage("?")]);
  const results = [];
  for (const call of answer.tool_calls) {
    const message = await tools.find(({ name }) => name === call.name).invoke(call);
    assert.equal(message.getType(), "tool");
    results.push(message.content);
  }
  check(results, tools.map(({ name }) => name));
});
