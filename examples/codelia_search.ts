// The tool `search` of codelia, by a Groundwire server: it takes the place of packages/runtime/src/tools/search.ts.
//
// GROUNDWIRE_URL says where the server is (http://127.0.0.1:8780), GROUNDWIRE_KEY is its API key if it wants one.

import { defineTool, type Tool } from "@codelia/core";
import { z } from "zod";

export type SearchToolOptions = {
	defaultBackend: "ddg" | "brave";
	braveApiKeyEnv: string; // the server has its own keys
};

export const createSearchTool = (options: SearchToolOptions): Tool =>
	defineTool({
		name: "search",
		description: "Search the web and return concise source candidates.",
		input: z.object({
			query: z.string().min(1).describe("Search query."),
			max_results: z.number().int().min(1).max(20).optional().describe("Max results. Default 5."),
			backend: z.enum(["ddg", "brave"]).optional().describe("Search backend. Default comes from config."),
			allowed_domains: z.array(z.string().min(1)).optional().describe("Optional allowlist of domains."),
		}),
		execute: async (input) => {
			const base = process.env.GROUNDWIRE_URL ?? "http://127.0.0.1:8780";
			const key = process.env.GROUNDWIRE_KEY;
			try {
				const response = await fetch(`${base}/v1/tools/search`, {
					method: "POST",
					headers: { "Content-Type": "application/json", ...(key ? { Authorization: `Bearer ${key}` } : {}) },
					body: JSON.stringify({ backend: options.defaultBackend, ...input }),
				});
				const found = await response.json();
				return found.error ? `Error running search: ${found.error.message ?? found.error}` : found;
			} catch (error) {
				return `Error running search: no answer from ${base} (${String(error)})`;
			}
		},
	});
