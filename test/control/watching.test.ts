/** A watch of files is a connection to the sandbox, which counts as activity, in the name of the usual user. */
import { expect, it } from 'vitest';
import type { AgentLink, WatchRequest } from '../../src/control/ports/index.ts';
import { filesOf } from '../../src/control/work/files.ts';
import type { SandboxUses } from '../../src/control/work/sandbox-uses.ts';
import type { User } from '../../src/model/user.ts';

it.each([
  [undefined, 'ann'],
  ['bob', 'bob'],
])('of the user %s is one of %s', async (user, expected) => {
  const calls: unknown[] = [];
  const sandbox = { id: 'sb_1', user: 'ann' };
  const uses = {
    find: async () => sandbox,
    connected: (id: string, work: (found: typeof sandbox) => unknown) => {
      calls.push(['connected', id]);
      return work(sandbox);
    },
  } as unknown as SandboxUses;
  const agent = {
    watchFiles: async (id: string, request: WatchRequest) => void calls.push([id, request]),
  } as unknown as AgentLink;
  const sink = { begun() {}, changed: () => undefined };
  const { signal } = new AbortController();
  await filesOf(uses, agent).watch({} as User, 'box', { path: '.', recursive: true, user }, sink, signal);
  expect(calls).toEqual([
    ['connected', 'sb_1'],
    ['sb_1', { path: '.', recursive: true, user: expected }],
  ]);
});
