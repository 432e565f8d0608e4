/** What is found in files of a machine, and replaced in them. */
export interface ContentQuery {
  /** A folder or one file. */
  path: string;
  /** As for `grep -E`; plain text when it is no expression. */
  query: string;
  /** Of names; of paths below `path` when it has a slash. */
  filePattern?: string;
  contextLines: number;
  maxItems: number;
  offset: number;
}

export interface ContentMatch {
  /** From 1. */
  line: number;
  text: string;
  before: string[];
  after: string[];
}

export interface FileMatches {
  /** Relative to the sandbox root when inside it. */
  path: string;
  matches: ContentMatch[];
  /** Of matching lines, counted no further than the bound. */
  matchCount: number;
  /** There are more. */
  capped: boolean;
}

export interface ContentFound {
  /** One page, sorted by path; shorter than asked for when it would be very large. */
  files: FileMatches[];
  /** Of matching files. */
  totalCount: number;
  /** The query was searched for as plain text. */
  literal: boolean;
}

export interface ReplaceRequest {
  pattern: string;
  /** As for sed. */
  replacement: string;
  /** Paths and globs. */
  files: string[];
}

export interface ReplacedFile {
  path: string;
  status: 'success' | 'error';
  replacements: number;
  error?: string;
}

export interface Replaced {
  results: ReplacedFile[];
  filesModified: number;
  literal: boolean;
}

export interface AgentSearch {
  /** `timeout` when it takes longer than limits.search.timeoutMs. */
  searchContent(id: string, query: ContentQuery, signal?: AbortSignal): Promise<ContentFound>;
  /** Each file is edited whole or not at all. Cancelled, it leaves what is edited so far. */
  replaceInFiles(id: string, request: ReplaceRequest, signal?: AbortSignal): Promise<Replaced>;
}
