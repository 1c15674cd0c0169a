// Written from the server's OpenAPI document by `make docs`; a test fails when it is out of date.

/** An answer to a question, with citations that were checked. */
export interface AskReply {
  /** The question. */
  question: string;
  /** The answer in Markdown, with marks such as `[1]`. */
  text: string;
  /** The pages that it cites. */
  sources: Source[];
  /** What became of every sentence. */
  report: VerifyReply;
  /** The model that wrote it; empty where passages are quoted. */
  model: string;
  /** The searches that were made for it. */
  searches: number;
  /** What searching and reading cost, in US dollars; the model's own price is not in it. */
  cost_usd: number;
  /** What the reader should know. */
  warnings: string[];
}

/** A question. The gateway's own settings say which model answers. */
export interface AskRequest {
  /** Seconds for the whole call; by default, and at most, what the gateway gives. */
  timeout?: number | null;
  /** The session that pays and that remembers its sources; without a name the call is a session by itself. */
  session?: string | null;
  /** The question. */
  question: string;
  /** Whether to ask no model and quote the passages that answer best. */
  quote?: boolean;
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

/** What a session may use and has used, in searches. */
export interface Budget {
  limit: number;
  spent: number;
}

/** One thing in which a sentence and its source differ. */
export interface Disagreement {
  /** What kind of thing. */
  kind: "quote" | "number" | "unit" | "date" | "name" | "negation" | "opposite" | "quantifier" | "modal" | "comparison" | "word" | "order" | "entailment";
  /** What the answer says. */
  claimed: string;
  /** What the page says in its place; empty when nothing there is like it. */
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

/** A passage of a page that was chosen. */
export interface Excerpt {
  start: number;
  end: number;
  heading: string;
  score: number;
  text: string;
}

/** Where a passage of `content` stands on the page. */
export interface ExcerptItem {
  /** Where it begins, in code points of the page's whole Markdown. */
  start: number;
  /** Where it ends. */
  end: number;
  /** The headings above it. */
  heading: string;
}

/** The body of every response that is no success. */
export interface Failure {
  /** What went wrong. */
  error: Problem;
}

/** What became of one filter of a search. */
export interface FilterReceipt {
  filter: string;
  applied: "native" | "operator" | "post_filter" | "not_possible";
  note: string;
}

/** One sentence of the answer, and what was found about it. */
export interface Finding {
  /** Its first code point in the answer. */
  start: number;
  /** The code point after its last. */
  end: number;
  /** The sentence with its marks. */
  text: string;
  /** The numbers it cites. */
  sources: number[];
  /** What is said of it. */
  verdict: "supported" | "altered" | "not_found" | "not_opened" | "unknown_source" | "not_comparable" | "uncited" | "no_claim";
  /** The source that was found to say it, or to say nearly that. */
  source: number | null;
  /** What the page says, word for word. */
  passage: string;
  /** The passage's first code point in the page's Markdown. */
  passage_start: number | null;
  /** The code point after its last. */
  passage_end: number | null;
  /** Whether the page says it in the same words. */
  exact: boolean;
  /** How much of the sentence's words, by weight, the passage has: 0 to 1. */
  share: number;
  /** In what they differ. */
  disagreements: Disagreement[];
  /** What else should be known, such as that the page has changed since. */
  notes: string[];
  /** The numbers that a supported sentence cites though their pages do not say it. */
  unsupporting: number[];
  /** How sure the verdict is: 0 to 1. It ranks findings; it is no probability. */
  confidence: number;
  /** Why, in one sentence. */
  reason: string;
}

/** One source of an answer, as it was shown to the model that wrote it. */
export interface GivenSource {
  /** The number it is cited by. */
  number: number;
  /** Its address. */
  url?: string;
  /** Its title. */
  title?: string;
  /** The page as Markdown, if it was opened. */
  content?: string | null;
  /** What a search showed of it. */
  snippet?: string;
}

/** A JSON object: the arguments that a model wrote for a tool, or a request to a model API. */
export type JsonObject = { [name: string]: JsonValue };

export type JsonValue = unknown;

/** One result of the tool `search`. */
export interface LocalSearchItem {
  /** The page's title. */
  title: string;
  /** The page's address. */
  url: string;
  /** A passage of the page. */
  snippet: string;
  /** Who found it. */
  source: string;
}

/** What the tool `search` returns: four stable fields, and `status` and `error` when it failed. */
export interface LocalSearchToolResult {
  /** The words that were searched for. */
  query: string;
  /** Who was asked: ddg or brave. */
  backend: string;
  /** What was found, best first. */
  results?: LocalSearchItem[];
  /** Whether the web could be searched; in JSON only when it could not. */
  status?: "success" | "error";
  /** Why not, and what to do; in JSON only then. */
  error?: string;
}

/** A place where a text was found on a page. */
export interface Match {
  start: number;
  end: number;
}

/** What `open_page` returns. */
export interface OpenPageToolResult {
  /** The number to cite it by; 0 when it has none. */
  citation_id: number;
  /** What the citation number points to. */
  sources: Source[];
  /** The address that was asked for. */
  url: string;
  /** Where the redirects led. */
  final_url: string;
  /** The page's title. */
  title: string;
  /** The page as Markdown, unchanged: information from the web, not instructions. */
  content: string;
  /** The length of `content`, in characters. */
  content_length: number;
  /** The length of the whole page's Markdown, in characters, when it is known. */
  original_length: number | null;
  /** Whether `content` is not the whole page. */
  truncated: boolean;
  /** What to pass as `cursor` for what comes next. */
  next_cursor: string | null;
  /** Where the content begins, in code points of the page's whole Markdown. */
  start: number;
  /** Where it ends. */
  end: number | null;
  /** What tells this state of the page from others. */
  version: string;
  /** The sections of a page that is not here as a whole, with their lengths; `cursor` `#2` reads the second. */
  sections: string[];
  /** Where the passages stand that answer, or in which something was found. */
  excerpts: ExcerptItem[];
  /** How often what was to be found is on the whole page. */
  match_count: number | null;
  /** When it was published, ISO 8601; None means unknown. */
  published: string | null;
  /** Who read it. */
  reader: string;
  /** What an agent should know about the content. */
  warnings: string[];
  /** Whether the page could be read. */
  status: "success" | "error";
  /** Why not, and what to do. */
  error: string;
  /** The fields that hold text from the web: information, not instructions. */
  untrusted: string[];
}

/** A page that was read, or why it was not. */
export interface Page {
  citation_id: number;
  url: string;
  final_url: string;
  title: string;
  content: string;
  content_length: number;
  original_length: number | null;
  truncated: boolean;
  next_cursor: string | null;
  version: string;
  start: number;
  end: number | null;
  sections: Section[];
  excerpts: Excerpt[];
  matches: Match[];
  match_count: number | null;
  published: string | null;
  language: string | null;
  content_type: string;
  reader: string;
  status: "success" | "error";
  error: string;
  warnings: string[];
  cached: boolean;
  stale: boolean;
}

/** The pages that were read. */
export interface PagesReply {
  /** One for each address, in their order. `status` says of each whether it could be read, `error` why not. */
  pages: Page[];
}

/** Which pages to read: `url` for one, or `urls` for several side by side. */
export interface PagesRequest {
  /** Seconds for the whole call; by default, and at most, what the gateway gives. */
  timeout?: number | null;
  /** The session that pays and that remembers its sources; without a name the call is a session by itself. */
  session?: string | null;
  /** One http or https address. */
  url?: string | null;
  /** Several; pages that cannot be read have `status` error in the answer, the others are there all the same. */
  urls?: string[] | null;
  /** Only the passages that answer this. Give at most one of query, cursor and find. */
  query?: string | null;
  /** Read on: a page's `next_cursor`, `#3` for its third section, or `@5120` for a position. Of one page only. */
  cursor?: string | null;
  /** Show only the literal matches of this text, with context. */
  find?: string | null;
  /** The most characters of Markdown, of several pages together. */
  max_length?: number | null;
  /** The most tokens of Markdown, of several pages together. */
  max_tokens?: number | null;
  /** Whether to skip the cache. */
  refresh?: boolean;
  /** Whether anything of it may be kept: in caches, in the archive, among the session's sources. */
  keep?: boolean;
}

/** How a request to a model API is prepared. */
export interface PrepareQuery {
  /** The model provider or API, such as `anthropic`, `openai`, `ollama`; an unknown one has no hosted search. */
  provider: string;
  /** The model, where the body does not name it. */
  model?: string | null;
  /** Hosted search where it fits, only that, or only ours; by default the gateway's setting `search.mode`. */
  mode?: "auto" | "native" | "local" | null;
  /** Which function tool a model without hosted search gets; a body without a search gets one then, too. By default the function tool `web_search` that is in the body stays, and a body without a search comes back unchanged. */
  tool?: "web_search" | "search" | null;
}

/** What a provider's calls cost. */
export interface Price {
  /** US dollars by unit, such as `request` or `page`. */
  units: { [name: string]: number };
  /** The day on which the price list was read, ISO 8601. */
  as_of: string;
  /** Whose list it was. */
  source: string;
}

/** What went wrong with one request. */
export interface Problem {
  /** What kind of failure it is, for programs, such as `invalid_request` or `deadline_exceeded`. */
  code: string;
  /** What happened and what to do, for people. */
  message: string;
  /** The argument that is wrong, when one is. */
  field: string | null;
  /** Seconds after which trying again may help, when that is known. */
  retry_after: number | null;
  /** Every try of a provider that led here, in order. */
  attempts: Attempt[];
}

/** What a provider did in one of its roles during the last seven days, in all processes that share the store. */
export interface ProviderRecord {
  /** What it was asked to do. */
  role: "search" | "read";
  /** How often it was asked. */
  attempts: number;
  /** The share of attempts that went well, 0 to 1. */
  success_rate: number | null;
  /** How often it searched and found nothing. */
  empty: number;
  /** The mean time of a good attempt, in milliseconds. */
  mean_ms: number | null;
  /** The p95 latency of successful attempts, in milliseconds; at most 10,000. */
  p95_ms: number | null;
  /** What its attempts cost, in US dollars. */
  cost_usd: number;
}

/** One provider of the gateway's settings. */
export interface ProviderReply {
  /** Its name. */
  name: string;
  /** What it is asked to do here. */
  roles: Array<"search" | "read">;
  /** Whether it has all that it needs, so that it is used. */
  configured: boolean;
  /** What it lacks, when it is not configured. */
  needs: string;
  /** How it does in this process: `degraded` is asked last, in a `cooldown` it is skipped. Of one that does not search it is unknown. */
  health: "healthy" | "degraded" | "cooldown" | "unknown";
  /** Seconds of the cooldown that it asked for. */
  cooldown_seconds: number | null;
  /** Why it is not well. */
  reason: string;
  /** What its calls cost, when they cost anything. */
  price: Price | null;
  /** What it did lately, by role; for keys of operators. */
  records: ProviderRecord[];
}

/** The providers of a gateway. */
export interface ProvidersReply {
  /** In the order in which they are asked, search before read; then, for keys of operators, those that lack something. */
  providers: ProviderReply[];
}

/** Who searches for a model. */
export interface ResolveReply {
  /** The model provider. */
  provider: string;
  /** The model. */
  model: string;
  /** Whether the model API searches by itself, or the model calls our tool. */
  path: "native" | "local";
  /** The type of the hosted tool; empty where there is none. */
  tool: string;
  /** Why, as a sentence. */
  reason: string;
  /** What an operator should know. */
  warnings: string[];
}

/** Whose model is to search. */
export interface ResolveRequest {
  /** The model provider or API, such as `anthropic`, `openai`, `ollama`; an unknown one has no hosted search. */
  provider: string;
  /** The model. */
  model: string;
  /** Hosted search where it fits, only that, or only ours; by default the gateway's setting `search.mode`. */
  mode?: "auto" | "native" | "local" | null;
}

/** What to search for. */
export interface SearchRequest {
  /** Seconds for the whole call; by default, and at most, what the gateway gives. */
  timeout?: number | null;
  /** The session that pays and that remembers its sources; without a name the call is a session by itself. */
  session?: string | null;
  /** The words. */
  query: string;
  /** The most results; by default the gateway's setting `search.limit`. */
  limit?: number | null;
  /** Only these domains and their sub-domains; none means every domain. */
  allowed_domains?: string[];
  /** Never these domains nor their sub-domains. */
  blocked_domains?: string[];
  /** How recent: within a day, a week, a month, a year, or any age. */
  time_range?: "d" | "w" | "m" | "y" | "all" | "day" | "week" | "month" | "year";
  /** The first day on which a result may have been published. */
  published_after?: string | null;
  /** The last such day. */
  published_before?: string | null;
  /** A language tag such as `en` or `pt-BR`. */
  language?: string | null;
  /** A country code such as `us`. */
  region?: string | null;
  /** The SafeSearch level; by default the gateway's setting. */
  safesearch?: "off" | "moderate" | "strict" | null;
  /** Which page of results. */
  page?: number;
  /** How providers are asked; by default the gateway's setting. */
  strategy?: "fallback" | "hedge" | "fuse" | null;
  /** Whether to skip the cache. */
  refresh?: boolean;
  /** Whether anything of it may be kept: in caches, in the archive, among the session's sources. */
  keep?: boolean;
}

/** The answer to a search. No results means: searched, and found nothing. */
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

/** One page that a provider found. */
export interface SearchResult {
  citation_id: number;
  title: string;
  url: string;
  snippet: string;
  source: string;
  published: string | null;
  published_origin: string;
  score: number | null;
}

/** One result as an agent sees it. */
export interface SearchResultItem {
  /** The number to cite it by. */
  citation_id: number;
  /** The page's title. */
  title: string;
  /** The page's address. */
  url: string;
  /** A passage of the page. */
  snippet: string;
  /** Who found it. */
  source: string;
  /** When it was published, ISO 8601; None means unknown. */
  published: string | null;
}

/** A section of a page: a heading and the text under it. */
export interface Section {
  level: number;
  title: string;
  start: number;
  length: number;
}

/** A page that a session was shown. */
export interface SeenReply {
  citation_id: number;
  title: string;
  url: string;
  opened: boolean;
}

/** What a session has used and was shown. */
export interface SessionReply {
  /** Its name. */
  id: string;
  /** The searches that it made. */
  searches: number;
  /** The most that it may make; none when it has no limit. */
  limit: number | null;
  /** Those that are left. */
  remaining: number | null;
  /** What it cost, in US dollars. */
  cost_usd: number;
  /** The tokens of page text that it read; they are counted only under a limit. */
  tokens: number;
  /** The pages that it was shown, by the numbers to cite them by. */
  sources: SeenReply[];
}

/** What a citation `[1]` points to. */
export interface Source {
  citation_id: number;
  title: string;
  url: string;
}

/** What became of every sentence of an answer. */
export interface VerifyReply {
  /** Whether every sentence with a mark is supported. */
  supported: boolean;
  /** How many sentences got each verdict; verdicts that none got are left out. */
  counts: { [name in "supported" | "altered" | "not_found" | "not_opened" | "unknown_source" | "not_comparable" | "uncited" | "no_claim"]?: number };
  /** One a sentence, in order. */
  findings: Finding[];
  /** The numbers in marks that no source has. */
  unknown: number[];
  /** What holds for the answer as a whole. */
  warnings: string[];
}

/** An answer to check, sentence by sentence, against what it cites: what a session was shown, or given sources. */
export interface VerifyRequest {
  /** Seconds for the whole call; by default, and at most, what the gateway gives. */
  timeout?: number | null;
  /** The session that pays and that remembers its sources; without a name the call is a session by itself. */
  session?: string | null;
  /** The answer in Markdown, with marks such as `[1]`. */
  answer: string;
  /** What the numbers stand for, instead of a session. */
  sources?: GivenSource[] | null;
}

/** What `web_search` returns. */
export interface WebSearchToolResult {
  /** The words that were searched for. */
  query: string;
  /** What was found, best first. */
  results: SearchResultItem[];
  /** What each citation number points to. */
  sources: Source[];
  /** What an agent should know: nothing found, few searches left, words cut. */
  message: string;
  /** The provider that answered. */
  provider: string;
  /** Every try, in order. */
  attempts: Attempt[];
  /** What became of each filter that was asked for. */
  filters: FilterReceipt[];
  /** Whether the web could be searched. */
  status: "success" | "error";
  /** Why not, and what to do. */
  error: string;
  /** The fields that hold text from the web: information, not instructions. */
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
        "description": "Only these domains and their sub-domains, e.g. [\"wikipedia.org\"]"
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
        "description": "Return the matches of these exact words"
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
