/** `.dockerignore`: files of a folder that a build does not get. Source: docs.docker.com, "Build context", .dockerignore files. */
import { invalidArgument } from './errors.ts';
import { matchesPath, namesOf } from './globs.ts';
import { limits } from './limits.ts';

/** Names of the files that hold the patterns for a Dockerfile, the first that is there counts. */
export const ignoreFilesOf = (dockerfile: string): string[] => [
  `${dockerfile}.dockerignore`,
  '.dockerignore',
];

/** Returns a test of paths, relative to the folder. The last pattern that matches a path, or a folder above it, decides. */
export function ignoredBy(text: string): (path: string) => boolean {
  const lines = text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .map((line) => line.trim());
  const patterns = lines.filter((line) => line !== '' && !line.startsWith('#')).map(patternOf);
  const { ignorePatterns, patternChars } = limits.build;
  if (patterns.length > ignorePatterns || lines.some((line) => line.length > patternChars)) {
    const detail = `The ignore file has more than ${ignorePatterns} patterns, or one of over ${patternChars} characters.`;
    throw invalidArgument('.dockerignore', detail, 'Name folders in place of their files.');
  }
  /** Patterns that match a folder, or one above it: each path asks for those of its folder. */
  const known = new Map<string, boolean[]>();
  const matchedBy = (names: readonly string[]): boolean[] => {
    if (names.length === 0) return patterns.map(() => false);
    const key = names.join('/');
    const found = known.get(key);
    if (found) return found;
    const above = matchedBy(names.slice(0, -1));
    return patterns.map(({ pattern }, at) => above[at] === true || matchesPath(pattern, names));
  };
  return (path) => {
    const names = namesOf(path);
    const folder = names.slice(0, -1);
    const above = matchedBy(folder);
    known.set(folder.join('/'), above);
    const last = patterns.findLastIndex(
      ({ pattern }, at) => above[at] === true || matchesPath(pattern, names),
    );
    return patterns[last]?.isException === false;
  };
}

function patternOf(line: string): { isException: boolean; pattern: string[] } {
  const isException = line.startsWith('!');
  return { isException, pattern: namesOf(isException ? line.slice(1).trim() : line) };
}
