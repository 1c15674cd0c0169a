/**
 * The tools for the Vercel AI SDK: `generateText({ model, tools: webTools() })`.
 *
 * @module
 */

import { jsonSchema, tool, type Tool } from "ai";

import { Groundwire, open_page, web_search, type GroundwireOptions, type JsonObject } from "./index.js";

/** Return `web_search` and `open_page`, over a client or a server's options. */
export function webTools(server: Groundwire | GroundwireOptions = {}): {
  web_search: Tool<JsonObject, string>;
  open_page: Tool<JsonObject, string>;
} {
  const client = server instanceof Groundwire ? server : new Groundwire(server);
  const made = (definition: typeof web_search | typeof open_page): Tool<JsonObject, string> =>
    tool({
      description: definition.description,
      inputSchema: jsonSchema<JsonObject>(definition.parameters as never),
      execute: (args: JsonObject, { abortSignal }) => client.toolText(definition.name, args, { signal: abortSignal }),
    });
  return { web_search: made(web_search), open_page: made(open_page) };
}
