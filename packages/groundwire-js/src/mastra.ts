/**
 * The tools for Mastra: `new Agent({ ..., tools: webTools() })`.
 *
 * @module
 */

import { createTool, type Tool } from "@mastra/core/tools";

import { Groundwire, open_page, web_search, type GroundwireOptions, type JsonObject } from "./index.js";

/** Return `web_search` and `open_page`, over a client or a server's options. */
export function webTools(server: Groundwire | GroundwireOptions = {}): {
  web_search: Tool<any, any>;
  open_page: Tool<any, any>;
} {
  const client = server instanceof Groundwire ? server : new Groundwire(server);
  const made = (definition: typeof web_search | typeof open_page): Tool<any, any> =>
    createTool({
      id: definition.name,
      description: definition.description,
      inputSchema: definition.parameters as never,
      execute: (args: unknown, context?: { abortSignal?: AbortSignal | undefined }) =>
        client.toolText(definition.name, args as JsonObject, { signal: context?.abortSignal }),
    }) as unknown as Tool<any, any>;
  return { web_search: made(web_search), open_page: made(open_page) };
}
