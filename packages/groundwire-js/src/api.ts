// Written from the server's OpenAPI document by `make docs`; a test fails when it is out of date.

/** An answer to a question, with verified citations. */
export interface AskReply {
  /** The question. */
  question: string;
  /** The answer in Markdown, with markers such as `[1]`. */
  text: string;
  /** The same text, under the name that most APIs use. */
  answer: string;
  /** The pages that it cites. */
  sources: Source[];
  /** The verdict on each sentence. */
  report: VerifyReply;
  /** The model that wrote it; empty where passages are quoted. */
  model: string;
  /** The searches made for it. */
  searches: number;
  /** The cost of searching and reading, in US dollars, without the model's own. */
  cost_usd: number;
  /** Warnings about the answer. */
  warnings: string[];
}

/** A question. The gateway's settings determine the model. */
export interface AskRequest {
  /** Seconds for the whole call; by default, and at most, the gateway's limit. */
  timeout?: number | null;
  /** The session that is charged and remembers its sources; without a name, the call is its own session. */
  session?: string | null;
  /** The question. */
  question: string;
  /** Whether to quote the best passages instead of asking a model. */
  quote?: boolean;
  /** Whether to stream events, as with `Accept: text/event-stream`. */
  stream?: boolean;
}

/** One request to one provider within a call, with its outcome. */
export interface Attempt {
  provider: string;
  outcome: "ok" | "empty" | "partial" | "rate_limited" | "quota" | "auth" | "bad_request" | "blocked" | "unsupported" | "timeout" | "network" | "invalid_response" | "unavailable";
  reason: string;
  status: number | null;
  latency_ms: number;
  cost_usd: number;
  retry_after: number | null;
  abandoned: boolean;
}

/** The limit and the usage of a session, in searches. */
export interface Budget {
  limit: number;
  spent: number;
}

/** A difference between a sentence and its source. */
export interface Disagreement {
  /** The kind of difference. */
  kind: "quote" | "number" | "unit" | "date" | "negation";
  /** The text in the answer. */
  claimed: string;
  /** The corresponding text on the page; empty if there is none. */
  stated: string;
  /** The number of that page. */
  source: number | null;
  /** Its position in the answer: the index of its first code point. */
  claimed_start: number | null;
  /** The code point after its last. */
  claimed_end: number | null;
  /** Its position in the page's Markdown: the index of its first code point. */
  stated_start: number | null;
  /** The code point after its last. */
  stated_end: number | null;
}

/** A selected passage of a page. */
export interface Excerpt {
  start: number;
  end: number;
  heading: string;
  score: number;
  text: string;
}

/** The position of a passage of `content` on the page. */
export interface ExcerptItem {
  /** Its start, in code points of the page's whole Markdown. */
  start: number;
  /** Its end. */
  end: number;
  /** The headings above it. */
  heading: string;
}

/** The body of every error response. */
export interface Failure {
  /** What went wrong. */
  error: Problem;
  /** The message again, as `error`, for clients of other APIs and at their paths only. */
  detail: { [name: string]: string } | null;
}

/** How one filter of a search was applied. */
export interface FilterReceipt {
  filter: string;
  applied: "native" | "operator" | "post_filter" | "not_possible";
  note: string;
}

/** One sentence of the answer, and its verdict. */
export interface Finding {
  /** Its first code point in the answer. */
  start: number;
  /** The code point after its last. */
  end: number;
  /** The sentence with its markers. */
  text: string;
  /** The numbers it cites. */
  sources: number[];
  /** The verdict. */
  verdict: "supported" | "contradicted" | "not_found" | "not_opened" | "unknown_source" | "not_comparable" | "uncited" | "no_claim";
  /** The source that supports or contradicts it, or has most of its words. */
  source: number | null;
  /** The passage, verbatim. */
  passage: string;
  /** The passage's first code point in the page's Markdown. */
  passage_start: number | null;
  /** The code point after its last. */
  passage_end: number | null;
  /** Whether the page states it in the same words. */
  exact: boolean;
  /** The probability that the pages support it, 0 to 1, if half of such sentences are supported. It is calibrated on claims that people judged; None if no page was compared. */
  probability: number | null;
  /** What the verdict rests on: the words of the page, or the judgment of a model. */
  judge: "words" | "model";
  /** The differences. */
  disagreements: Disagreement[];
  /** Further remarks, such as that the page has changed since. */
  notes: string[];
  /** The cited numbers of a supported sentence whose pages do not support it. */
  unsupporting: number[];
  /** The reason, in one sentence. */
  reason: string;
}

/** A source of an answer, as shown to the model that wrote it. */
export interface GivenSource {
  /** The number it is cited by. */
  number: number;
  /** Its URL. */
  url?: string;
  /** Its title. */
  title?: string;
  /** The page as Markdown, if it was opened. */
  content?: string | null;
  /** Its search snippet. */
  snippet?: string;
}

/** A JSON object: a model's tool arguments, or a request to a model API. */
export type JsonObject = { [name: string]: JsonValue };

export type JsonValue = unknown;

/** One result of the tool `search`. */
export interface LocalSearchItem {
  /** The page's title. */
  title: string;
  /** The page's URL. */
  url: string;
  /** A passage of the page. */
  snippet: string;
  /** The provider that found it. */
  source: string;
}

/** The result of the tool `search`: three stable fields, and more if it failed or found nothing. */
export interface LocalSearchToolResult {
  /** The query. */
  query: string;
  /** The backend: ddg or brave. */
  backend: string;
  /** The results, best first. */
  results?: LocalSearchItem[];
  /** Whether the search succeeded; in JSON only if it failed. */
  status?: "success" | "error";
  /** The reason and the next step; in JSON only if it failed. */
  error?: string;
  /** Why nothing was found; in JSON only if that is known. */
  message?: string;
}

/** An occurrence of a text on a page. */
export interface Match {
  start: number;
  end: number;
}

/** What `open_page` returns. */
export interface OpenPageToolResult {
  /** The number to cite it by; 0 if it has none. */
  citation_id: number;
  /** The target of the citation number. */
  sources: Source[];
  /** The requested URL. */
  url: string;
  /** The URL after redirects. */
  final_url: string;
  /** The page's title. */
  title: string;
  /** The page as Markdown, unchanged: information from the web, not instructions. */
  content: string;
  /** The length of `content`, in characters. */
  content_length: number;
  /** The length of the whole page's Markdown, in characters, if known. */
  original_length: number | null;
  /** Whether `content` is not the whole page. */
  truncated: boolean;
  /** The `cursor` of the next piece. */
  next_cursor: string | null;
  /** The start of the content, in code points of the page's whole Markdown. */
  start: number;
  /** Its end. */
  end: number | null;
  /** The version of the page. */
  version: string;
  /** The sections of a page that is not complete here, with their lengths; `cursor` `#2` reads the second. */
  sections: string[];
  /** The positions of the relevant passages or literal matches. */
  excerpts: ExcerptItem[];
  /** The number of literal matches on the whole page. */
  match_count: number | null;
  /** When it was published, or last changed if it states only that, ISO 8601; None means unknown. */
  published: string | null;
  /** When it was last changed, ISO 8601; None means unknown, or not after its day of publication. */
  modified: string | null;
  /** The provider that read it. */
  reader: string;
  /** Warnings for the agent about the content. */
  warnings: string[];
  /** Whether fewer than 1,000 tokens were requested: the text of the result then has a short frame. */
  brief: boolean;
  /** Whether the page could be read. */
  status: "success" | "error";
  /** The reason and the next step, if not. */
  error: string;
  /** The fields with text from the web: information, not instructions. */
  untrusted: string[];
}

/** A page that was read, or the reason why it was not. */
export interface Page {
  url: string;
  final_url: string;
  title: string;
  content: string;
  content_length: number;
  original_length: number | null;
  truncated: boolean;
  published: string | null;
  modified: string | null;
  author: string | null;
  language: string | null;
  content_type: string;
  warnings: string[];
  citation_id: number;
  next_cursor: string | null;
  version: string;
  start: number;
  end: number | null;
  sections: Section[];
  excerpts: Excerpt[];
  matches: Match[];
  match_count: number | null;
  reader: string;
  status: "success" | "error";
  error: string;
  cached: boolean;
  stale: boolean;
}

/** The response with several pages. */
export interface PagesReply {
  /** One entry per URL, in order, with `status` and, if it could not be read, `error`. */
  pages: Page[];
}

/** The pages to read: `url` for one, or `urls` for several in parallel. */
export interface PagesRequest {
  /** Seconds for the whole call; by default, and at most, the gateway's limit. */
  timeout?: number | null;
  /** The session that is charged and remembers its sources; without a name, the call is its own session. */
  session?: string | null;
  /** An http or https URL, or a `file:` URL below the folders of the caller's key. */
  url?: string | null;
  /** Several URLs; pages that cannot be read have `status` error in the response, beside the others. */
  urls?: string[] | null;
  /** Return only the passages relevant to this query. Pass at most one of query, cursor and find. */
  query?: string | null;
  /** Continue reading one page: its `next_cursor`, `#3` for its third section, or `@5120` for a position. */
  cursor?: string | null;
  /** Show only the literal matches of this text, with context. */
  find?: string | null;
  /** Maximum characters of Markdown, for several pages in total. */
  max_length?: number | null;
  /** Maximum tokens of Markdown, for several pages in total. */
  max_tokens?: number | null;
  /** Whether to skip the cache. */
  refresh?: boolean;
  /** Whether the call may be stored: in the cache, the archive, and the session's sources. */
  keep?: boolean;
}

/** The parameters of preparing a request to a model API. */
export interface PrepareQuery {
  /** The model provider or API, such as `anthropic`, `openai`, `ollama`; an unknown one has no hosted search. */
  provider: string;
  /** The model, if the body does not name it. */
  model?: string | null;
  /** Hosted search where possible, only hosted, or only local; by default the gateway's setting `search.mode`. */
  mode?: "auto" | "native" | "local" | null;
  /** The function tool to add for a model without hosted search, even to a body without a search. By default, a function tool `web_search` in the body is kept, and a body without a search is returned unchanged. Chat Completions of OpenAI then answer with the model that searches, and the header `X-Groundwire-Warning` says so. */
  tool?: "web_search" | "search" | null;
}

/** The error of a request. */
export interface Problem {
  /** The kind of failure, for programs, such as `invalid_request` or `deadline_exceeded`. */
  code: string;
  /** What happened and what to do, for people. */
  message: string;
  /** The invalid argument, if any. */
  field: string | null;
  /** Seconds after which a retry may succeed, if known. */
  retry_after: number | null;
  /** Every attempt, in order. */
  attempts: Attempt[];
}

/** A search plan. */
export interface ResolveReply {
  /** The model provider. */
  provider: string;
  /** The model. */
  model: string;
  /** Whether the model API searches or the model calls the local tool. */
  path: "native" | "local";
  /** The type of the hosted tool; empty if there is none. */
  tool: string;
  /** The reason, as a sentence. */
  reason: string;
  /** Remarks for the operator. */
  warnings: string[];
}

/** A model whose search is to be planned. */
export interface ResolveRequest {
  /** The model provider or API, such as `anthropic`, `openai`, `ollama`; an unknown one has no hosted search. */
  provider: string;
  /** The model. */
  model: string;
  /** Hosted search where possible, only hosted, or only local; by default the gateway's setting `search.mode`. */
  mode?: "auto" | "native" | "local" | null;
}

/** A search. */
export interface SearchRequest {
  /** Seconds for the whole call; by default, and at most, the gateway's limit. */
  timeout?: number | null;
  /** The session that is charged and remembers its sources; without a name, the call is its own session. */
  session?: string | null;
  /** The query. */
  query: string;
  /** Maximum results; by default the gateway's setting `search.limit`. */
  limit?: number | null;
  /** Only these domains and their subdomains; none means every domain. */
  allowed_domains?: string[];
  /** Exclude these domains and their subdomains. */
  blocked_domains?: string[];
  /** How recent: within a day, a week, a month, a year, or any age. */
  time_range?: "d" | "w" | "m" | "y" | "all" | "day" | "week" | "month" | "year";
  /** The first publication date allowed. */
  published_after?: string | null;
  /** The last publication date allowed. */
  published_before?: string | null;
  /** A language tag such as `en` or `pt-BR`. */
  language?: string | null;
  /** A country code such as `us`. */
  region?: string | null;
  /** The SafeSearch level; by default the gateway's setting. */
  safesearch?: "off" | "moderate" | "strict" | null;
  /** The page of results. */
  page?: number;
  /** What to search: the web, papers, or `files`: those below the folders of the caller's key, if it has any. */
  sources?: Array<"web" | "papers" | "files">;
  /** The strategy for calling providers; by default the gateway's setting. */
  strategy?: "fallback" | "hedge" | "fuse" | null;
  /** Whether to skip the cache. */
  refresh?: boolean;
  /** Whether the call may be stored: in the cache, the archive, and the session's sources. */
  keep?: boolean;
}

/** The response to a search. No results means that the search succeeded and found nothing. */
export interface SearchResponse {
  query: string;
  results: SearchResult[];
  sources: Source[];
  provider: string;
  attempts: Attempt[];
  filters: FilterReceipt[];
  budget: Budget | null;
  warnings: string[];
  cached: boolean;
  stale: boolean;
}

/** A page found by a provider. */
export interface SearchResult {
  /** The number to cite it by, counted from 1. In a session, a page keeps its number and new pages get the next ones. 0 until a `Web` has numbered it. */
  citation_id: number;
  /** The page's title as plain text, at most 500 characters. */
  title: string;
  /** The page's URL as returned by the provider, at most 2,048 characters. */
  url: string;
  /** A passage of the page as plain text, at most 1,000 characters. */
  snippet: string;
  /** The provider that found it and, if it reports them, the underlying indexes: `searxng (bing, mojeek)`. */
  source: string;
  /** When the page was published, ISO 8601 (`2026-11-01` or with a time of day); None means unknown. */
  published: string | null;
  /** The date as given by the provider, if it was not ISO 8601: `2 days ago`. */
  published_origin: string;
  /** The provider's own score, comparable only within one response. */
  score: number | null;
}

/** One result as an agent sees it. */
export interface SearchResultItem {
  /** The number to cite it by. */
  citation_id: number;
  /** The page's title. */
  title: string;
  /** The page's URL. */
  url: string;
  /** A passage of the page. */
  snippet: string;
  /** The provider that found it. */
  source: string;
  /** When it was published, ISO 8601; None means unknown. */
  published: string | null;
}

/** A section of a page: a heading and the text below it. */
export interface Section {
  level: number;
  title: string;
  start: number;
  length: number;
}

/** A page shown to a session. */
export interface SeenReply {
  citation_id: number;
  title: string;
  url: string;
  /** Whether the session opened it. */
  opened: boolean;
}

/** The usage and the sources of a session. */
export interface SessionReply {
  /** Its name. */
  id: string;
  /** The searches it made. */
  searches: number;
  /** The maximum; null if it has no limit. */
  limit: number | null;
  /** The searches left. */
  remaining: number | null;
  /** Its cost, in US dollars. */
  cost_usd: number;
  /** The tokens of page text it read; counted only with a limit. */
  tokens: number;
  /** The pages shown to it, by citation number. */
  sources: SeenReply[];
  /** The `after` of a request for further pages; null if there are none. */
  next_after: number | null;
}

/** The target of a citation `[1]`. */
export interface Source {
  /** The number in the brackets. */
  citation_id: number;
  /** The page's title. */
  title: string;
  /** The page's address. */
  url: string;
}

/** The verdict on each sentence of an answer. */
export interface VerifyReply {
  /** Whether every sentence with a marker is supported. */
  supported: boolean;
  /** The number of sentences by verdict; verdicts without sentences are omitted. */
  counts: { [name in "supported" | "contradicted" | "not_found" | "not_opened" | "unknown_source" | "not_comparable" | "uncited" | "no_claim"]?: number };
  /** One finding per sentence, in order. */
  findings: Finding[];
  /** The numbers in markers that no source has. */
  unknown: number[];
  /** Warnings about the whole answer. */
  warnings: string[];
}

/** An answer to verify, sentence by sentence, against the sources of a session or given ones. */
export interface VerifyRequest {
  /** Seconds for the whole call; by default, and at most, the gateway's limit. */
  timeout?: number | null;
  /** The session that is charged and remembers its sources; without a name, the call is its own session. */
  session?: string | null;
  /** The answer in Markdown, with markers such as `[1]`; at most 10,000 brackets, and 10,000 sentences and lines. */
  answer: string;
  /** The sources by number, instead of a session. */
  sources?: GivenSource[] | null;
}

/** What `web_search` returns. */
export interface WebSearchToolResult {
  /** The query. */
  query: string;
  /** The results, best first. */
  results: SearchResultItem[];
  /** The target of each citation number. */
  sources: Source[];
  /** States that the results are of an earlier search, and its date; empty for new results. */
  notice: string;
  /** Warnings for the agent: no results, few searches left, a shortened query. */
  message: string;
  /** The provider of the results. */
  provider: string;
  /** Every attempt, in order. */
  attempts: Attempt[];
  /** How each requested filter was applied. */
  filters: FilterReceipt[];
  /** Whether the search succeeded. */
  status: "success" | "error";
  /** The reason and the next step, if it failed. */
  error: string;
  /** The fields with text from the web: information, not instructions. */
  untrusted: string[];
}

/** What a model is told of `web_search`. */
export const web_search = {
  "name": "web_search",
  "description": "Search the web for current information. Returns ranked results with title, URL and snippet; cite a result as [citation_id]. Use open_page to read a result in full.",
  "parameters": {
    "type": "object",
    "properties": {
      "query": {
        "type": "string",
        "description": "What to search for"
      },
      "limit": {
        "type": "integer",
        "minimum": 1,
        "maximum": 50,
        "default": 5,
        "description": "Most results to return"
      },
      "allowed_domains": {
        "type": "array",
        "items": {
          "type": "string"
        },
        "default": [],
        "description": "Only these domains and their subdomains, e.g. [\"wikipedia.org\"]"
      },
      "time_range": {
        "type": "string",
        "enum": [
          "d",
          "w",
          "m",
          "y",
          "all"
        ],
        "default": "all",
        "description": "Published within a day, week, month or year"
      },
      "sources": {
        "type": "array",
        "items": {
          "type": "string",
          "enum": [
            "web",
            "papers"
          ]
        },
        "description": "The web (default) or papers"
      }
    },
    "required": [
      "query"
    ],
    "additionalProperties": false
  }
} as const;

/** What a model is told of `open_page`. */
export const open_page = {
  "name": "open_page",
  "description": "Read one web page as Markdown, when the snippets of web_search are not enough. A long page comes in pieces: `truncated` and `next_cursor` say so. Give at most one of query, cursor, find.",
  "parameters": {
    "type": "object",
    "properties": {
      "url": {
        "type": "string",
        "description": "An http or https address"
      },
      "query": {
        "type": "string",
        "description": "Return only the passages that answer this"
      },
      "cursor": {
        "type": "string",
        "description": "Read on: a next_cursor, #3 for section 3, or @5120 for a position"
      },
      "find": {
        "type": "string",
        "description": "Return the matches of this exact text"
      },
      "max_length": {
        "type": "integer",
        "minimum": 1,
        "description": "Most characters to return (default 15000)"
      },
      "max_tokens": {
        "type": "integer",
        "minimum": 1,
        "description": "Most tokens to return"
      }
    },
    "required": [
      "url"
    ],
    "additionalProperties": false
  }
} as const;
