/**
 * A client of the Groundwire server's `/v1` that only needs `fetch`: for Node, Bun, Deno and browsers.
 *
 * @module
 */

import type {
  Attempt,
  JsonObject,
  LocalSearchToolResult,
  OpenPageToolResult,
  Page,
  PagesRequest,
  PrepareQuery,
  Problem,
  ResolveReply,
  ResolveRequest,
  SearchRequest,
  SearchResponse,
  SessionReply,
  VerifyReply,
  VerifyRequest,
  WebSearchToolResult,
} from "./api.js";

export type * from "./api.js";
export { open_page, web_search } from "./api.js";

/** The connection to the server. */
export interface GroundwireOptions {
  /** Its base URL; by default `http://127.0.0.1:8780`. */
  baseUrl?: string;
  /** An API key of the server; not needed on loopback until the first key is created. */
  apiKey?: string;
  /** The default session of calls; it has one budget and one numbering of sources. */
  session?: string;
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch;
}

/** How a call can be aborted. */
export interface CallOptions {
  /** Aborts the call. */
  signal?: AbortSignal | undefined;
}

/** The same, for a call that reports its attempts. */
export interface WatchOptions extends CallOptions {
  /** Called when an attempt starts or finishes. */
  onAttempt?: (event: AttemptEvent) => void;
}

/** The same, for a request that is prepared. */
export interface PrepareOptions extends CallOptions {
  /** Called with the server's warning, if any: the model is replaced by one that searches, or it has been shut down. */
  onWarning?: (warning: string) => void;
}

/** The start or end of an attempt. */
export type AttemptEvent =
  | { type: "attempt_started"; provider: string }
  | { type: "attempt_finished"; attempt: Attempt };

/** The result of each tool. */
export interface ToolResults {
  web_search: WebSearchToolResult;
  open_page: OpenPageToolResult;
  search: LocalSearchToolResult;
}

/** A call that failed; a network failure has the status 0. */
export class GroundwireError extends Error {
  /** The HTTP status, or 0. */
  readonly status: number;
  /** The kind of failure, such as `invalid_request` or `all_providers_failed`. */
  readonly code: string;
  /** The invalid argument, if any. */
  readonly field: string | null;
  /** Seconds after which to retry, if known. */
  readonly retryAfter: number | null;
  /** All attempts. */
  readonly attempts: Attempt[];

  constructor(status: number, problem: Problem, options?: ErrorOptions) {
    super(problem.message, options);
    this.name = "GroundwireError";
    this.status = status;
    this.code = problem.code;
    this.field = problem.field;
    this.retryAfter = problem.retry_after;
    this.attempts = problem.attempts;
  }
}

/** A Groundwire server. */
export class Groundwire {
  readonly #base: string;
  readonly #key: string | undefined;
  readonly #session: string | undefined;
  readonly #fetch: typeof fetch;

  constructor(options: GroundwireOptions = {}) {
    this.#base = (options.baseUrl ?? "http://127.0.0.1:8780").replace(/\/+$/, "");
    this.#key = options.apiKey;
    this.#session = options.session;
    this.#fetch = options.fetch ?? globalThis.fetch.bind(globalThis);
  }

  /** Search the web. */
  search(request: SearchRequest | string, options: WatchOptions = {}): Promise<SearchResponse> {
    const asked = typeof request === "string" ? { query: request } : request;
    return this.#post("/v1/search", this.#named(asked), options);
  }

  /** Read one page as Markdown; a page that cannot be read is an error. */
  async openPage(request: (PagesRequest & { url: string }) | string, options: WatchOptions = {}): Promise<Page> {
    const asked: PagesRequest = typeof request === "string" ? { url: request } : request;
    const { pages } = await this.#post<{ pages: [Page] }>("/v1/pages", this.#named(asked), options);
    return pages[0];
  }

  /** Read several pages; those that cannot be read have `status` "error". */
  async openPages(request: (PagesRequest & { urls: string[] }) | string[], options: WatchOptions = {}): Promise<Page[]> {
    const asked: PagesRequest = Array.isArray(request) ? { urls: request } : request;
    return (await this.#post<{ pages: Page[] }>("/v1/pages", this.#named(asked), options)).pages;
  }

  /** Check each sentence of an answer against the pages that it cites. */
  verify(request: VerifyRequest, options: CallOptions = {}): Promise<VerifyReply> {
    return this.#post("/v1/verify", request.sources ? request : this.#named(request), options);
  }

  /** Show what a session has used, and its sources. */
  session(id: string, options: CallOptions = {}): Promise<SessionReply> {
    return this.#json("GET", `/v1/sessions/${encodeURIComponent(id)}`, undefined, options);
  }

  /** Reset a session's usage and citation numbers. Returns what it had used. */
  resetSession(id: string, options: CallOptions = {}): Promise<SessionReply> {
    return this.#json("DELETE", `/v1/sessions/${encodeURIComponent(id)}`, undefined, options);
  }

  /** Decide which search a model uses: its API's hosted search, or Groundwire's tools. */
  resolve(request: ResolveRequest, options: CallOptions = {}): Promise<ResolveReply> {
    return this.#post("/v1/resolve", request, options);
  }

  /** Return a request to a model API with exactly one search tool: the hosted one, or Groundwire's. */
  async prepare(body: JsonObject, how: PrepareQuery, options: PrepareOptions = {}): Promise<JsonObject> {
    const response = await this.#call("POST", `/v1/prepare${query({ ...how })}`, body, "application/json", options);
    const warning = response.headers.get("X-Groundwire-Warning");
    if (warning) options.onWarning?.(warning);
    return (await response.json().catch(unreadable(response, options.signal))) as JsonObject;
  }

  /** Call a tool with the arguments that a model wrote; errors are reported in the result. */
  callTool<Name extends keyof ToolResults>(
    name: Name,
    args: JsonObject,
    options: CallOptions = {},
  ): Promise<ToolResults[Name]> {
    return this.#post(`/v1/tools/${name}${query({ session: this.#session })}`, args, options);
  }

  /**
   * Call a tool and return the text for a model, in which everything from the web is fenced. It only rejects when
   * the signal aborts: errors are reported in the text.
   */
  async toolText(name: keyof ToolResults, args: JsonObject, options: CallOptions = {}): Promise<string> {
    try {
      const path = `/v1/tools/${name}${query({ session: this.#session })}`;
      const response = await this.#call("POST", path, args, "text/plain", options);
      return await response.text().catch(unreadable(response, options.signal));
    } catch (error) {
      if (options.signal?.aborted || !(error instanceof GroundwireError)) throw error;
      return `${name} failed: ${error.message}`;
    }
  }

  #named<T extends { session?: string | null }>(request: T): T {
    return this.#session === undefined ? request : { session: this.#session, ...request };
  }

  async #post<T>(path: string, body: object, options: WatchOptions): Promise<T> {
    if (!options.onAttempt) return this.#json("POST", path, body, options);
    const response = await this.#call("POST", path, body, "text/event-stream", options);
    for await (const [event, data] of events(response, options.signal)) {
      if (event === "attempt_started") options.onAttempt({ type: event, provider: data.provider });
      else if (event === "attempt_finished") options.onAttempt({ type: event, attempt: data });
      else if (event === "result") return data;
      else if (event === "error") throw new GroundwireError(response.status, data.error);
    }
    throw unreachable(`The answer of ${this.#base}${path} ended before its result.`);
  }

  async #json<T>(method: string, path: string, body: object | undefined, options: CallOptions): Promise<T> {
    const response = await this.#call(method, path, body, "application/json", options);
    return (await response.json().catch(unreadable(response, options.signal))) as T;
  }

  async #call(
    method: string,
    path: string,
    body: object | undefined,
    accept: string,
    { signal }: CallOptions,
  ): Promise<Response> {
    const headers: Record<string, string> = { Accept: accept };
    if (this.#key) headers["Authorization"] = `Bearer ${this.#key}`;
    if (body) headers["Content-Type"] = "application/json";
    const init: RequestInit = { method, headers, signal: signal ?? null };
    let response: Response;
    try {
      response = await this.#fetch(this.#base + path, body ? { ...init, body: JSON.stringify(body) } : init);
    } catch (error) {
      if (signal?.aborted) throw error;
      throw unreachable(`No Groundwire server answers at ${this.#base}. Start it with: groundwire serve`, error);
    }
    if (!response.ok) throw await failure(response);
    return response;
  }
}

function query(parameters: Record<string, unknown>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null);
  const encoded = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return encoded && `?${encoded}`;
}

function unreachable(message: string, cause?: unknown): GroundwireError {
  return new GroundwireError(0, { code: "unreachable", message, field: null, retry_after: null, attempts: [] }, { cause });
}

/** What to do when a body cannot be read: unless the call was aborted, the connection broke, or it is not JSON. */
function unreadable(response: Response, signal: AbortSignal | undefined): (error: Error) => never {
  return (error) => {
    if (signal?.aborted) throw error;
    throw unreachable(`The answer of ${response.url} cannot be read: ${error.message}`, error);
  };
}

async function failure(response: Response): Promise<GroundwireError> {
  const problem = await response.json().then((body) => body.error).catch(() => null);
  if (typeof problem?.message === "string") return new GroundwireError(response.status, problem);
  const message = `${response.url} answered with status ${response.status}, and it is no Groundwire server.`;
  return new GroundwireError(response.status, { ...EMPTY, code: "unexpected_response", message });
}

const EMPTY = { field: null, retry_after: null, attempts: [] };

/** Server-sent events, as far as the server uses them. */
async function* events(response: Response, signal: AbortSignal | undefined): AsyncGenerator<[string, any]> {
  const decoder = new TextDecoder();
  const reader = response.body!.getReader();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(unreadable(response, signal));
      text += decoder.decode(value, { stream: !done });
      const pieces = text.split("\n\n");
      text = pieces.pop()!;
      for (const piece of pieces) {
        const fields = new Map(piece.split("\n").map((line) => [line.split(":", 1)[0], line.replace(/^\w*: ?/, "")]));
        if (fields.has("event")) yield [fields.get("event")!, JSON.parse(fields.get("data") ?? "null")];
      }
      if (done) return;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
