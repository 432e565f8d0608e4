/** The npm packages, packed twice: whoever has the same sources can see that a package holds them and nothing else. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { packAll } from '../../setup/release/dist-npm.ts';

let first: string;
let second: string;

beforeAll(async () => {
  first = await mkdtemp(join(tmpdir(), 'sandhaven-dist-'));
  second = await mkdtemp(join(tmpdir(), 'sandhaven-dist-'));
  await packAll(first);
  await packAll(second);
});

afterAll(async () => {
  for (const folder of [first, second]) await rm(folder, { recursive: true, force: true });
});

it('the npm packages are the same bytes each time', async () => {
  const names = await readdir(first);
  // Three packages with a bill of materials each, and the sums.
  expect(names).toHaveLength(7);
  expect((await readdir(second)).toSorted()).toEqual(names.toSorted());
  for (const name of names) {
    const [one, other] = [await readFile(join(first, name)), await readFile(join(second, name))];
    expect(one.equals(other), name).toBe(true);
  }
});
