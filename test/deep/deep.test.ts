/** The parts of `make test-deep`: nothing is in none of them, and a change gets the runs that prove it. */
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { choose, minutesFor, unproven } from './choice.ts';
import { deepFiles, parts } from './parts.ts';

const root = join(import.meta.dirname, '../..');
const filesOf = (globs: readonly string[]) => globs.flatMap((glob) => globSync(glob, { cwd: root }));
const namesOf = (choice: ReturnType<typeof choose>) => ({
  chosen: choice.chosen.map(({ part, run }) => `${part.name} ${run.name}`),
  left: choice.left.map(({ part, run }) => `${part.name} ${run.name}`),
});

describe('the parts', () => {
  it('have different names, and so have the runs of one', () => {
    const names = parts.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { runs } of parts) expect(new Set(runs.map(({ name }) => name)).size).toBe(runs.length);
  });

  it('name files that are there', () => {
    const globs = parts.flatMap(({ sources, runs }) => [
      ...sources,
      ...runs.flatMap(({ tests = [], wider = [] }) => [...tests, ...wider]),
    ]);
    expect(globs.filter((glob) => filesOf([glob]).length === 0)).toEqual([]);
  });

  it('have each test that `make test` has not in one run of a project, and no other', () => {
    const deep = filesOf(deepFiles);
    const once = parts.flatMap(({ project, runs }) =>
      runs
        .filter(({ match }) => !match)
        .flatMap((run) => filesOf(run.tests ?? []).map((file) => `${run.project ?? project}: ${file}`)),
    );
    expect(once.filter((file, at) => once.indexOf(file) !== at)).toEqual([]);
    const wider = filesOf(parts.flatMap(({ runs }) => runs.flatMap((run) => run.wider ?? [])));
    expect(wider.filter((file) => deep.includes(file))).toEqual([]);
  });

  it('have every file of the product among their sources, unless `make test` alone proves it', () => {
    const args = [
      'ls-files',
      'src',
      'native',
      'web',
      'sdk',
      'sdk-python',
      'packages',
      'images',
      'deploy',
      'setup',
      'protocol',
    ];
    const files = spawnSync('git', args, { cwd: root, encoding: 'utf8' }).stdout.trim().split('\n');
    expect(files.length).toBeGreaterThan(1_000);
    expect(unproven(files)).toEqual([]);
  });
});

describe('a change', () => {
  it('of the page is walked through in the second browser', () => {
    expect(namesOf(choose(['web/src/main.tsx'], 1, 2))).toEqual({ chosen: ['page firefox'], left: [] });
  });

  it('of nothing that a part proves gets the run whose turn it is', () => {
    expect(choose(['README.md'], 0, 15).chosen).toHaveLength(1);
    const turns = parts.map((_, commits) => choose(['README.md'], commits, 1_000).chosen[0]?.part.name);
    expect(turns.toSorted()).toEqual(parts.map(({ name }) => name).toSorted());
  });

  it('begins no run that would take too long, and says so', () => {
    const { chosen, left } = namesOf(choose(['deploy/helm/Chart.yaml'], 0, 0.5));
    expect({ chosen, left }).toEqual({
      chosen: [],
      left: ['replicas gateways', 'cluster engine', 'packages all'],
    });
  });

  it('has 35 minutes, and of the engine 50', () => {
    expect(minutesFor(['web/src/main.tsx', 'src/control/index.ts'])).toBe(35);
    expect(minutesFor(['native/launcher/src/main.rs'])).toBe(50);
  });
});
