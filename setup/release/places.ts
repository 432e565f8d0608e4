/**
 * Places that repeat the version of package.json, the one that counts: files of tools that each want it in their own form.
 * The service, OpenAPI and the images read package.json itself.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Place {
  file: string;
  /** Each match is one version, between the groups `before` and what follows. */
  pattern: RegExp;
  /** Versions that the file has. */
  count: number;
}

const ownVersion = /(?<before>^ {2}"version": ")[^"]+(?=")/gm;
const locked = (name: string) => new RegExp(`(?<before>"name": "${name}",\\s+"version": ")[^"]+(?=")`, 'g');
const crate = /(?<before>^\[package\]\nname = "[^"]+"\nversion = ")[^"]+(?=")/gm;

export const places: readonly Place[] = [
  { file: 'package.json', pattern: ownVersion, count: 1 },
  { file: 'package-lock.json', pattern: locked('sandhaven'), count: 2 },
  { file: 'sdk/package.json', pattern: ownVersion, count: 1 },
  { file: 'packages/cli/package.json', pattern: ownVersion, count: 1 },
  { file: 'packages/mcp/package.json', pattern: ownVersion, count: 1 },
  { file: 'web/package.json', pattern: ownVersion, count: 1 },
  { file: 'web/package-lock.json', pattern: locked('@sandhaven/web'), count: 2 },
  { file: 'examples/package-lock.json', pattern: locked('@sandhaven/sdk'), count: 1 },
  { file: 'native/agent/Cargo.toml', pattern: crate, count: 1 },
  { file: 'native/egress/Cargo.toml', pattern: crate, count: 1 },
  { file: 'native/filter/Cargo.toml', pattern: crate, count: 1 },
  { file: 'native/launcher/Cargo.toml', pattern: crate, count: 1 },
  { file: 'native/unpack/Cargo.toml', pattern: crate, count: 1 },
  {
    file: 'native/Cargo.lock',
    pattern: /(?<before>^name = "sandhaven-[a-z]+"\nversion = ")[^"]+(?=")/gm,
    count: 5,
  },
  {
    file: 'deploy/helm/sandhaven/Chart.yaml',
    pattern: /(?<before>^(?:version|appVersion): )\S+/gm,
    count: 2,
  },
  { file: 'docs/docker.md', pattern: /(?<before>sandhaven-standalone[_:])\d+\.\d+\.\d+/g, count: 7 },
];

/** Returns the versions in the places that are there, by file. Throws where a file has more or fewer than it should. */
export function versionsIn(home: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { file, pattern, count } of places) {
    const path = join(home, file);
    const matches = [...readFileSync(path, 'utf8').matchAll(pattern)];
    if (matches.length !== count)
      throw new Error(`${file} has ${matches.length} versions instead of ${count}`);
    found.set(
      file,
      matches.map(([match, before = '']) => match.slice(before.length)),
    );
  }
  return found;
}

/** Returns the files with another version, by name. */
export function withVersion(home: string, version: string): Map<string, string> {
  const files = new Map<string, string>();
  for (const file of versionsIn(home).keys()) {
    const { pattern } = places.find((place) => place.file === file) as Place;
    const text = readFileSync(join(home, file), 'utf8');
    files.set(
      file,
      text.replace(pattern, (_match, before: string) => before + version),
    );
  }
  return files;
}
