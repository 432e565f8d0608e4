/** The key under which one replica at a time fills a folder with a clone. */
import { expect, it } from 'vitest';
import { GitService, type GitServiceDependencies } from '../../src/control/git/git-service.ts';
import { parseGitRemote } from '../../src/model/git/remote.ts';
import { sandboxRecord } from '../store/fixtures.ts';

/** Returns the key that a clone into the folder takes. */
async function keyOf(path: string): Promise<string> {
  const taken: string[] = [];
  const git = new GitService({
    uses: { run: (_caller: unknown, _id: unknown, work: (row: object) => unknown) => work(sandboxRecord()) },
    environments: { of: async () => ({}) },
    held: {
      async take(_sandboxId: string, key: string) {
        taken.push(key);
        return null;
      },
    },
    provider: null,
  } as unknown as GitServiceDependencies);
  const remote = parseGitRemote('/srv/repository', '/workspace');
  const place = { caller: {}, sandbox: 'sb_1' } as Parameters<GitService['clone']>[0];
  await expect(git.clone(place, { remote, path }, {})).rejects.toMatchObject({ code: 'already_exists' });
  return taken.join();
}

it('is short, whatever the length of the path: an index takes 2,704 bytes', async () => {
  expect((await keyOf('deep/'.repeat(800))).length).toBeLessThan(100);
});

it('is one for each folder, however it is written', async () => {
  expect(await keyOf('./a/../b')).toBe(await keyOf('b'));
  expect(await keyOf('a')).not.toBe(await keyOf('b'));
});
