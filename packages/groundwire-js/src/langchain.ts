/**
 * The tools for LangChain.js and LangGraph.js: `createAgent({ model, tools: webTools() })`.
 *
 * @module
 */

import { DynamicStructuredTool } from "@langchain/core/tools";

import { Groundwire, open_page, web_search, type GroundwireOptions, type JsonObject } from "./index.js";

/** Return `web_search` and `open_page`, over a client or a server's options. */
export function webTools(server: Groundwire | GroundwireOptions = {}): [DynamicStructuredTool, DynamicStructuredTool] {
  const client = server instanceof Groundwire ? server : new Groundwire(server);
  const made = (definition: typeof web_search | typeof open_page): DynamicStructuredTool =>
    new DynamicStructuredTool({
      name: definition.name,
      description: definition.description,
      schema: definition.parameters as never,
      func: (args: JsonObject, _manager, config) => client.toolText(definition.name, args, { signal: config?.signal }),
    });
  return [made(web_search), made(open_page)];
}
