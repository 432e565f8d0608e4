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
  return (path) => {
    const names = namesOf(path);
    let ignored = false;
    for (const { isException, pattern } of patterns) {
      if (ignored === !isException) continue;
      for (let depth = names.length; depth > 0; depth--) {
        if (!matchesPath(pattern, names.slice(0, depth))) continue;
        ignored = !isException;
        break;
      }
    }
    return ignored;
  };
}

function patternOf(line: string): { isException: boolean; pattern: string[] } {
  const isException = line.startsWith('!');
  return { isException, pattern: namesOf(isException ? line.slice(1).trim() : line) };
}
