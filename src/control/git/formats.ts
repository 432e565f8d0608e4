/**
 * Parsers of Git's machine formats. The input was printed inside a sandbox and is untrusted: malformed input gives
 * `failed_precondition`, and lists are bounded.
 */
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { pathToText } from '../../model/path-text.ts';

export interface GitStatus {
  /** null on a detached HEAD. */
  branch: string | null;
  staged: string[];
  modified: string[];
  untracked: string[];
  conflicted: string[];
  ahead: number;
  behind: number;
  /** The upstream branch, such as `origin/main`; null without one. */
  upstream: string | null;
  /** The branch has no commit yet. */
  unborn: boolean;
  /** true: lists are incomplete. */
  truncated: boolean;
}

export interface GitCommit {
  hash: string;
  author: string;
  email: string;
  /** Milliseconds since the epoch. */
  date: number;
  message: string;
}

const MAX_TIME_MS = 8.64e15;

/** Splits at NUL characters; drops a last part without its NUL, which was cut off. */
export function nulSeparated(bytes: Buffer): string[] {
  const parts: string[] = [];
  for (let start = 0; ; ) {
    const end = bytes.indexOf(0, start);
    if (end < 0) return parts;
    parts.push(pathToText(bytes.subarray(start, end)));
    start = end + 1;
  }
}

/** Parses `status --porcelain=v2 --branch -z --no-renames`. */
export function parseStatus(bytes: Buffer, cut: boolean): GitStatus {
  const status: GitStatus = {
    branch: null,
    staged: [],
    modified: [],
    untracked: [],
    conflicted: [],
    ahead: 0,
    behind: 0,
    upstream: null,
    unborn: false,
    truncated: cut,
  };
  let paths = 0;
  for (const line of nulSeparated(bytes)) {
    if (line.startsWith('# ')) readHeader(status, line.slice(2));
    else if (++paths > limits.git.paths) return { ...status, truncated: true };
    else readEntry(status, line);
  }
  return status;
}

function readHeader(status: GitStatus, header: string): void {
  const head = /^branch\.head (.+)$/s.exec(header)?.[1];
  if (head !== undefined) status.branch = head === '(detached)' ? null : head;
  status.upstream = /^branch\.upstream (.+)$/s.exec(header)?.[1] ?? status.upstream;
  if (header === 'branch.oid (initial)') status.unborn = true;
  const [, ahead, behind] = /^branch\.ab \+(\d{1,9}) -(\d{1,9})$/.exec(header) ?? [];
  if (ahead !== undefined) Object.assign(status, { ahead: Number(ahead), behind: Number(behind) });
}

/** `1 XY sub mH mI mW hH hI path`, `u XY sub m1 m2 m3 mW h1 h2 h3 path`, `? path`, `! path`. */
function readEntry(status: GitStatus, line: string): void {
  const kind = line[0];
  if (kind === '?') status.untracked.push(line.slice(2));
  else if (kind === 'u') status.conflicted.push(pathAfter(line, 10));
  else if (kind === '1') {
    const path = pathAfter(line, 8);
    if (line[2] !== '.') status.staged.push(path);
    if (line[3] !== '.') status.modified.push(path);
  } else if (kind !== '!') throw unreadable();
}

/** Returns the rest of the line after `words` words. */
function pathAfter(line: string, words: number): string {
  let at = 0;
  for (let word = 0; word < words; word++) {
    at = line.indexOf(' ', at) + 1;
    if (at === 0) throw unreadable();
  }
  return line.slice(at);
}

export const LOG_FORMAT = '%H%x00%an%x00%ae%x00%at%x00%B';
const LOG_FIELDS = 5;

/** Parses `log -z --format=LOG_FORMAT`. */
export function parseLog(bytes: Buffer): GitCommit[] {
  const fields = nulSeparated(bytes);
  const commits: GitCommit[] = [];
  for (let at = 0; at + LOG_FIELDS <= fields.length; at += LOG_FIELDS) {
    const [hash = '', author = '', email = '', seconds = '', message = ''] = fields.slice(
      at,
      at + LOG_FIELDS,
    );
    if (!/^[0-9a-f]{40,64}$/.test(hash)) throw unreadable();
    // The line end that git adds is no part of the message.
    commits.push({ hash, author, email, date: timeOf(seconds), message: message.replace(/\n$/, '') });
  }
  return commits;
}

/** Clamps a commit's time, which may be any number, to the range of Date. */
function timeOf(seconds: string): number {
  const time = Number(seconds) * 1_000;
  return Number.isFinite(time) ? Math.min(Math.max(time, -MAX_TIME_MS), MAX_TIME_MS) : 0;
}

export const BRANCH_FORMAT = '%(refname:lstrip=2)%00%(HEAD)%00';

/** Parses `for-each-ref --format=BRANCH_FORMAT refs/heads`; each record also ends in a line end. */
export function parseBranches(bytes: Buffer): { name: string; current: boolean }[] {
  const fields = nulSeparated(bytes);
  const branches: { name: string; current: boolean }[] = [];
  for (let at = 0; at + 2 <= fields.length; at += 2) {
    branches.push({ name: (fields[at] ?? '').replace(/^\n/, ''), current: fields[at + 1] === '*' });
  }
  return branches;
}

/** Parses `config --null --list`: all values of each key, in order. */
export function parseConfig(bytes: Buffer): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const entry of nulSeparated(bytes)) {
    const at = entry.indexOf('\n');
    const key = at < 0 ? entry : entry.slice(0, at);
    const known = values.get(key) ?? [];
    known.push(at < 0 ? '' : entry.slice(at + 1));
    values.set(key, known);
  }
  return values;
}

/** One ref of `push --porcelain`. */
export interface PushedRef {
  rejected: boolean;
  /** true: rejected by the remote, not by the local git. */
  byRemote: boolean;
  summary: string;
}

/** Parses lines `<flag>\t<from>:<to>\t<summary>`, and skips the lines for people between them. */
export function parsePush(bytes: Buffer): PushedRef[] {
  return bytes
    .toString('utf8')
    .split('\n')
    .flatMap((line) => {
      const [, flag, summary = ''] = /^([ +*=!-])\t[^\t]*:[^\t]*\t(.*)$/.exec(line) ?? [];
      if (flag === undefined) return [];
      return [{ rejected: flag === '!', byRemote: summary.startsWith('[remote '), summary }];
    });
}

function unreadable(): SandhavenError {
  return new SandhavenError('failed_precondition', "The sandbox's git does not answer in Git's formats.", {
    hint: 'Check the git of the sandbox with Sandbox.RunCommand: git --version.',
  });
}
