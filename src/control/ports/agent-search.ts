/** What is found in files of a machine, and replaced in them. */
/** What is told of each file besides its path. */
export type ContentOutput = 'matches' | 'files' | 'counts';

export interface ContentQuery {
  /** A folder or one file. */
  path: string;
  /** As for `grep -E`; plain text when it is no expression. */
  query: string;
  /** Of names; of paths below `path` when it has a slash. */
  filePattern?: string;
  /** It is plain text, whatever it looks like. */
  literal?: boolean;
  output?: ContentOutput;
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
  /** Of the output `matches` alone. */
  matches?: ContentMatch[];
  /** Of matching lines; of the output `matches` no further than the bound, of `files` not at all. */
  matchCount?: number;
  /** There are more matches. */
  capped?: boolean;
}

export interface ContentFound {
  /** One page, sorted by path; shorter than asked for when it would be very large. */
  files: FileMatches[];
  /** Of matching files. */
  totalCount: number;
  /** The query was searched for as plain text. */
  literal: boolean;
  /** Where no file matches the expression: how many have its text. */
  plainCount?: number;
}

export interface ReplaceRequest {
  pattern: string;
  /** As for sed. */
  replacement: string;
  /** Paths and globs. */
  files: string[];
  /** The pattern is plain text. */
  literal?: boolean;
  /** Nothing is changed; the rows tell what would be. */
  dryRun?: boolean;
  /** Globs of names, or of paths where they have a slash, to leave out. */
  exclude?: string[];
}

export interface ReplacedFile {
  path: string;
  status: 'success' | 'error';
  replacements: number;
  error?: string;
}

export interface Replaced {
  /** Files without a match among them. */
  results: ReplacedFile[];
  /** Or, of a dry run, that would be. */
  filesModified: number;
  literal: boolean;
  /** Where nothing matches the expression: how often its text is there. */
  plainCount?: number;
}

export interface AgentSearch {
  /** `timeout` when it takes longer than limits.search.timeoutMs. */
  searchContent(id: string, query: ContentQuery, signal?: AbortSignal): Promise<ContentFound>;
  /** Each file is edited whole or not at all. Cancelled, it leaves what is edited so far. */
  replaceInFiles(id: string, request: ReplaceRequest, signal?: AbortSignal): Promise<Replaced>;
}
