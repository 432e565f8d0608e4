/** Linux users of calls: each tool hands the user on, and refuses a text that can be none. */
import { describe, expect, it } from 'vitest';
import type { Snapshot } from '../../../src/model/snapshot.ts';
import { snapshotRecord } from '../../store/conformance/snapshot-conformance.ts';
import { sandboxRecord } from '../../store/fixtures.ts';
import { callWith } from './call-with.ts';

const ended = {
  ...{ output: '', stdout: '', stderr: '', exitCode: 0, timedOut: false, truncated: false, durationMs: 1 },
  charts: [],
};
const listed = {
  path: '.',
  items: [],
  files: [],
  results: [],
  totalCount: 0,
  filesModified: 0,
  literal: false,
};
const slice = { content: Buffer.from(''), size: 0, totalLines: 0, startLine: 1, endLine: 0 };
const info = { path: 'a', type: 'dir', size: 0, mode: 0o755, owner: 'ann', group: 'ann', modifiedMs: 0 };
const box = sandboxRecord({ id: 'sb_1', name: 'box', user: 'ann' });
const snapshot: Snapshot = snapshotRecord({ name: 's', user: 'ann' });

const calls: [tool: string, parameters: object, method: string, answer: unknown][] = [
  ['RunCommand', { command: 'id' }, 'execution.runCommand', ended],
  ['RunCode', { code: '1' }, 'execution.runCode', ended],
  ['CreateSession', {}, 'sessions.create', { sessionId: 's', createdAtMs: 0 }],
  ['ListFiles', {}, 'files.list', listed],
  ['FindFiles', { pattern: '*' }, 'files.find', listed],
  ['GetFileInfo', { path: 'a' }, 'files.info', info],
  ['ReadFile', { path: 'a' }, 'files.read', slice],
  ['WriteFile', { path: 'a', content: '' }, 'files.write', { bytesWritten: 0, created: true }],
  ['CreateFolder', { path: 'a' }, 'files.createFolder', { created: true }],
  ['MoveFile', { source: 'a', destination: 'b' }, 'files.move', undefined],
  ['DeleteFile', { path: 'a' }, 'files.remove', undefined],
  ['SearchContent', { query: 'x' }, 'files.search', listed],
  ['ReplaceInFiles', { pattern: 'x', replacement: 'y', files: ['a'] }, 'files.replace', listed],
  ['CreateSandbox', {}, 'sandboxes.create', box],
  ['CreateSnapshot', { name: 's', image: 'debian:13' }, 'snapshots.create', snapshot],
];

describe.each(calls)('%s', (tool, parameters, method, answer) => {
  const request = ({ asked }: { asked: unknown[] }) => asked.find((given) => typeof given === 'object');

  it.each(['ann', '1000'])('[WIRE-USER-01] hands the user %s on', async (user) => {
    const called = await callWith(tool, { ...parameters, user }, method, answer);
    expect(request(called)).toMatchObject({ user });
  });

  it('names none of its own', async () => {
    expect(request(await callWith(tool, parameters, method, answer))).not.toMatchObject({
      user: expect.any(String),
    });
  });

  it('[WIRE-USER-02] refuses a user that can be none before anything happens', async () => {
    let calls = 0;
    const refused = callWith(tool, { ...parameters, user: 'Ann' }, method, () => {
      calls += 1;
      return answer;
    });
    await expect(refused).rejects.toMatchObject({
      code: 'invalid_argument',
      message: 'user must be a name in small letters, such as ann, or a number up to 65535; "Ann" was given.',
      fields: { parameter: 'user' },
    });
    expect(calls).toBe(0);
  });
});

describe('the view', () => {
  it('of a sandbox and of a snapshot has the user, and none for root', async () => {
    const made = await callWith('CreateSandbox', {}, 'sandboxes.create', box);
    expect(made.result).toMatchObject({ user: 'ann' });
    const template = await callWith(
      'CreateSnapshot',
      { name: 's', image: 'i' },
      'snapshots.create',
      snapshot,
    );
    expect(template.result).toMatchObject({ user: 'ann' });
    const root = await callWith('CreateSandbox', {}, 'sandboxes.create', { ...box, user: null });
    expect(root.result).not.toHaveProperty('user');
  });
});

describe('ReplaceInFiles in a home', () => {
  it('has a row for each file that is named, by ~ or by its whole path', async () => {
    const files = ['~/a', '/home/ann/b', 'src/*.txt'];
    const results = ['a', 'b', 'src/c.txt'].map((path) => ({ path, status: 'success', replacements: 0 }));
    const given = { pattern: 'x', replacement: 'y', files, user: 'ann' };
    const { result } = await callWith('ReplaceInFiles', given, 'files.replace', { ...listed, results });
    expect(result).toMatchObject({ results: results.slice(0, 2), files_unchanged: 1 });
  });
});
