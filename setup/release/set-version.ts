/**
 * Makes a release: `make release VERSION=1.2.3`. Writes the version to every place, closes the changelog's section, and
 * makes one commit and one tag. It publishes nothing. With --dry-run it checks, and shows what it would change.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { closeUnreleased } from './changelog.ts';
import { versionsIn, withVersion } from './places.ts';
import { compareVersions, isVersion } from './version.ts';

const CHANGELOG = 'CHANGELOG.md';

if (import.meta.main) main(process.argv.slice(2));

function main(argv: string[]): void {
  const isDryRun = argv.includes('--dry-run');
  const [version = '', ...others] = argv.filter((argument) => argument !== '--dry-run');
  const home = join(import.meta.dirname, '..', '..');
  try {
    if (others.length > 0) throw new Error('set-version takes one version, and --dry-run');
    const today = new Date().toISOString().slice(0, 10);
    const { files, tag } = release(home, version, today, isDryRun);
    const what = isDryRun ? 'would change' : 'changed';
    console.log([`${tag} ${what}:`, ...files.map((file) => `  ${file}`)].join('\n'));
    if (!isDryRun) console.log(`Push it with: git push origin HEAD ${tag}`);
  } catch (error) {
    console.error(`release: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}

export interface Release {
  files: string[];
  tag: string;
}

/** Throws before anything is changed when something is not as it should be; a commit that fails is taken back. */
export function release(home: string, version: string, date: string, isDryRun: boolean): Release {
  const tag = `v${version}`;
  const current = currentVersion(home);
  assertNext(version, current);
  if (git(home, 'status', '--porcelain') !== '') {
    throw new Error('there are changes that are not committed: commit them, or put them away');
  }
  if (git(home, 'tag', '--list', tag) !== '') throw new Error(`there is a tag ${tag} already`);
  const files = withVersion(home, version);
  files.set(CHANGELOG, closeUnreleased(readFileSync(join(home, CHANGELOG), 'utf8'), version, date));
  if (!isDryRun) commit(home, files, tag);
  return { files: [...files.keys()], tag };
}

/** Throws where a place has another version than package.json. */
function currentVersion(home: string): string {
  const found = versionsIn(home);
  const [current = ''] = found.get('package.json') ?? [];
  for (const [file, versions] of found) {
    const other = versions.find((version) => version !== current);
    if (other !== undefined) throw new Error(`${file} has ${other}, and package.json ${current}`);
  }
  return current;
}

function assertNext(version: string, current: string): void {
  if (!isVersion(version)) {
    throw new Error(`'${version}' is no version of Semantic Versioning: give one such as VERSION=1.2.3`);
  }
  if (compareVersions(version, current) <= 0) throw new Error(`${version} does not come after ${current}`);
}

function commit(home: string, files: Map<string, string>, tag: string): void {
  const before = git(home, 'rev-parse', 'HEAD');
  try {
    for (const [file, text] of files) writeFileSync(join(home, file), text);
    git(home, 'add', '--', ...files.keys());
    git(home, 'commit', '--quiet', '--message', `release: set version ${tag.slice(1)}`);
    git(home, 'tag', '--annotate', '--message', `Sandhaven ${tag.slice(1)}`, tag);
  } catch (error) {
    // Nothing else was changed, since the tree was clean.
    git(home, 'reset', '--quiet', '--hard', before);
    throw error;
  }
}

function git(home: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd: home, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}
