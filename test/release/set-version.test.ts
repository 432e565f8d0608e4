/** A release in a real repository, which holds the files of this one that carry the version. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { places } from '../../setup/release/places.ts';
import { release as releaseHere } from '../../setup/release/set-version.ts';

const root = join(import.meta.dirname, '..', '..');
const changelog = `# Changelog

## Unreleased

### Added

- A thing.

## 0.0.9 - 2026-01-02

- The beginning.
`;

/** A repository with one commit, which each test copies. */
let fresh: string;
let home: string;

beforeAll(() => {
  fresh = home = mkdtempSync(join(tmpdir(), 'sandhaven-release-'));
  for (const file of [...places.map((place) => place.file), 'setup/release']) {
    if (existsSync(join(root, file))) cpSync(join(root, file), join(home, file), { recursive: true });
  }
  // The number of this project changes with each release; here it does not.
  for (const { file, pattern } of places) {
    if (existsSync(join(home, file)))
      write(
        file,
        read(file).replace(pattern, (_match, before) => `${before}0.1.0`),
      );
  }
  write('CHANGELOG.md', changelog);
  git('init', '--quiet', '--initial-branch=main');
  git('config', 'user.name', 'Ada');
  git('config', 'user.email', 'ada@example.org');
  git('add', '.');
  git('commit', '--quiet', '--message=first');
});

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'sandhaven-release-'));
  cpSync(fresh, home, { recursive: true, preserveTimestamps: true });
});

afterAll(() => rmSync(fresh, { recursive: true }));
afterEach(() => rmSync(home, { recursive: true }));

describe('a release', () => {
  it('sets every version, closes the changelog, and makes one commit and one tag', () => {
    const { status, stdout } = release('0.2.0');
    expect(status).toBe(0);
    expect(stdout).toContain('Push it with: git push origin HEAD v0.2.0');
    expect(JSON.parse(read('package.json')).version).toBe('0.2.0');
    expect(JSON.parse(read('sdk/package.json')).version).toBe('0.2.0');
    expect(JSON.parse(read('packages/mcp/package.json')).version).toBe('0.2.0');
    expect(JSON.parse(read('package-lock.json')).packages[''].version).toBe('0.2.0');
    expect(read('native/Cargo.lock')).toContain('name = "sandhaven-unpack"\nversion = "0.2.0"');
    expect(read('native/agent/Cargo.toml')).toMatch(/^version = "0\.2\.0"$/m);
    expect(read('deploy/helm/sandhaven/Chart.yaml')).toContain('version: 0.2.0\nappVersion: 0.2.0\n');
    expect(read('CHANGELOG.md')).toMatch(
      /^## Unreleased\n\n## 0\.2\.0 - \d{4}-\d\d-\d\d\n\n### Added\n\n- A thing\.\n\n## 0\.0\.9 /m,
    );
    expect(git('log', '--format=%s')).toBe('release: set version 0.2.0\nfirst');
    expect(git('cat-file', '-t', 'v0.2.0')).toBe('tag');
    expect(git('rev-parse', 'v0.2.0^{commit}')).toBe(git('rev-parse', 'HEAD'));
    expect(git('status', '--porcelain')).toBe('');
  });

  it('changes versions alone', () => {
    const before = read('native/Cargo.lock');
    release('0.2.0');
    const changed = read('native/Cargo.lock')
      .split('\n')
      .filter((line, at) => line !== before.split('\n')[at]);
    // Of the agent, the egress program, the filter, the launcher and the unpacker.
    expect(changed).toEqual(Array(5).fill('version = "0.2.0"'));
  });

  it('with --dry-run changes nothing, and shows what it would', () => {
    const { status, stdout } = release('0.2.0', '--dry-run');
    expect(status).toBe(0);
    expect(stdout).toMatch(/^v0\.2\.0 would change:\n {2}package\.json\n/);
    expect(stdout).toContain('  CHANGELOG.md\n');
    unchanged();
  });

  it.each(['', '0.2', 'v0.2.0', '0.2.0+build', '; rm'])('is refused for the version %j', (version) => {
    const given = () => releaseHere(home, version, '2026-01-03', false);
    expect(given).toThrow(/is no version of Semantic Versioning/);
    unchanged();
  });

  it.each(['0.1.0', '0.0.9', '0.1.0-rc.1'])(
    'is refused for %s, which does not come after 0.1.0',
    (version) => {
      expect(() => releaseHere(home, version, '2026-01-03', false)).toThrow(/does not come after 0\.1\.0/);
      unchanged();
    },
  );

  it('is refused in a tree with changes, files that git does not know among them', () => {
    write('new.txt', '');
    refuses(/changes that are not committed/, '0.2.0', '?? new.txt');
  });

  it('is refused where the tag is there', () => {
    git('tag', 'v0.2.0');
    refuses(/there is a tag v0\.2\.0 already/, '0.2.0');
  });

  it('is refused where a place has another version', () => {
    write('sdk/package.json', read('sdk/package.json').replace('0.1.0', '0.1.1'));
    git('commit', '--quiet', '--all', '--message=other');
    refuses(/sdk\/package\.json has 0\.1\.1, and package\.json 0\.1\.0/, '0.2.0');
  });

  it('is refused without changes in the changelog', () => {
    write('CHANGELOG.md', changelog.replace('- A thing.\n', ''));
    git('commit', '--quiet', '--all', '--message=none');
    refuses(/no changes under "Unreleased"/, '0.2.0');
  });

  it('takes everything back when its commit fails', () => {
    writeFileSync(join(home, '.git', 'hooks', 'pre-commit'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    refuses(/Command failed: git commit/, '0.2.0');
  });
});

function refuses(message: RegExp, version: string, changes = ''): void {
  const before = git('rev-parse', 'HEAD');
  const { status, stdout, stderr } = release(version);
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toMatch(message);
  expect(git('rev-parse', 'HEAD')).toBe(before);
  expect(git('status', '--porcelain')).toBe(changes);
}

function unchanged(): void {
  expect(git('status', '--porcelain')).toBe('');
  expect(git('log', '--format=%s')).toBe('first');
  expect(git('tag')).toBe('');
}

function release(...args: string[]) {
  const script = join(home, 'setup', 'release', 'set-version.ts');
  return spawnSync(process.execPath, [script, ...args], { cwd: home, encoding: 'utf8' });
}

function git(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: home, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return stdout.trim();
}

function read(file: string): string {
  return readFileSync(join(home, file), 'utf8');
}

function write(file: string, text: string): void {
  writeFileSync(join(home, file), text);
}
