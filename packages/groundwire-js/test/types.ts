// What users write: it must type-check against the built declarations.

import { Groundwire, GroundwireError, type SearchResponse } from "groundwire";
import { webTools } from "groundwire/ai";
import { webTools as forLangChain } from "groundwire/langchain";
import { webTools as forMastra } from "groundwire/mastra";

const web = new Groundwire({ baseUrl: "http://127.0.0.1:8780", apiKey: "gw_key", session: "run-1" });

export async function research(question: string): Promise<string> {
  const found: SearchResponse = await web.search({ query: question, limit: 3, time_range: "m" });
  const first = found.results[0];
  if (!first) return found.warnings.join("\n");
  try {
    const page = await web.openPage({ url: first.url, query: question, max_tokens: 500 });
    const local = await web.callTool("search", { query: question });
    return [page.content, local.backend, local.error ?? ""].join("\n");
  } catch (error) {
    if (error instanceof GroundwireError && error.retryAfter !== null) return `Again in ${error.retryAfter} s.`;
    throw error;
  }
}

// @ts-expect-error: there is no such time range
void web.search({ query: "x", time_range: "decade" });
// @ts-expect-error: a page needs an address
void web.openPage({ query: "x" });

export const tools = [webTools(web).web_search, forMastra(web).open_page, ...forLangChain({ session: "run-2" })];
