/** Search in the files of a machine, and replacement in them. */
import type { AsUser } from './processes.ts';

/** Output for each file besides its path. */
export type ContentOutput = 'matches' | 'files' | 'counts';

export interface ContentQuery extends AsUser {
  /** A folder or one file. */
  path: string;
  /** As for `grep -E`; plain text when it is no valid expression. */
  query: string;
  /** Glob of names; of paths below `path` when it has a slash. */
  filePattern?: string;
  /** true: the query is always plain text. */
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
  /** Only for the output `matches`. */
  matches?: ContentMatch[];
  /** Number of matching lines; up to the bound for `matches`, absent for `files`. */
  matchCount?: number;
  /** There are more matches. */
  capped?: boolean;
}

export interface ContentFound {
  /** One page, sorted by path; shorter than asked for when it would be very large. */
  files: FileMatches[];
  /** Number of matching files. */
  totalCount: number;
  /** true: the search used the query as plain text. */
  literal: boolean;
  /** Number of files with the text of an expression that matches none. */
  plainCount?: number;
}

export interface ReplaceRequest extends AsUser {
  pattern: string;
  /** As for sed. */
  replacement: string;
  /** Paths and globs. */
  files: string[];
  /** true: the pattern is plain text. */
  literal?: boolean;
  /** true: changes nothing; the rows show the changes that would follow. */
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
  /** Includes files without a match. */
  results: ReplacedFile[];
  /** Number of changed files; of files to change, in a dry run. */
  filesModified: number;
  literal: boolean;
  /** Occurrences of the text of an expression that matches nothing. */
  plainCount?: number;
}

export interface AgentSearch {
  /** Rejects with `timeout` after limits.search.timeoutMs. */
  searchContent(id: string, query: ContentQuery, signal?: AbortSignal): Promise<ContentFound>;
  /** Edits each file whole or not at all. A cancelled call keeps its finished edits. */
  replaceInFiles(id: string, request: ReplaceRequest, signal?: AbortSignal): Promise<Replaced>;
}
