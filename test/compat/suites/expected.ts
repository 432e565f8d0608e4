/** The ratchet: what of a suite is expected not to pass, by test/compat/expected.md, and where a run differs from it. */
import type { Outcomes } from './run.ts';

export interface Expected {
  /** Of the suite. */
  tests: number;
  /** A test, or `Group: *` for all of one, with the reason. */
  failing: { test: string; outcome: 'fails' | 'out of reach'; reason: string }[];
}

export interface Difference {
  /** Tests that fail or are gone, and were to pass, each with the reason. */
  worse: Record<string, string>;
  /** Rows whose tests all pass: they can go. */
  better: string[];
}

const ROW = /^\| `([^`]+)` \| (fails|out of reach) \| (.+) \|$/;

/** Reads the section of a suite: a line `Tests: N.` and a table. */
export function expectedOf(document: string, suite: string): Expected {
  const section = document.split(/^## /m).find((text) => text.startsWith(`${suite}\n`));
  const tests = Number(/^Tests: (\d+)/m.exec(section ?? '')?.[1]);
  if (section === undefined || !(tests > 0))
    throw new Error(`expected.md has no section ${suite} with its tests`);
  const failing = section.split('\n').flatMap((line) => {
    const [, test, outcome, reason] = ROW.exec(line) ?? [];
    if (test === undefined || reason === undefined) return [];
    return [{ test, outcome: outcome as 'fails' | 'out of reach', reason }];
  });
  return { tests, failing };
}

export function compare({ tests, failing }: Expected, outcomes: Outcomes): Difference {
  const known = (name: string) => failing.some(({ test }) => covers(test, name));
  const worse = Object.entries(outcomes).filter(([name, outcome]) => outcome !== 'passes' && !known(name));
  const count = Object.keys(outcomes).length;
  if (count < tests) worse.push(['(all)', `${count} of ${tests} tests have run`]);
  for (const { test } of failing) {
    if (!Object.keys(outcomes).some((name) => covers(test, name))) worse.push([test, 'has not run']);
  }
  const better = failing
    .map(({ test }) => test)
    .filter((test) =>
      Object.entries(outcomes).every(([name, outcome]) => !covers(test, name) || outcome === 'passes'),
    );
  return { worse: Object.fromEntries(worse), better };
}

function covers(row: string, name: string): boolean {
  return row.endsWith('*') ? name.startsWith(row.slice(0, -1)) : name === row;
}
