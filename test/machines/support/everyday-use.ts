/** One sandbox from its creation to its deletion, with a tool of every kind. */
import { describe, expect, it } from 'vitest';
import { noTraces } from '../../support/host.ts';
import { must } from '../../support/service.ts';
import type { Installed } from './installed.ts';

/** @param on The machine, once it is there. */
export function describeEverydayUse(
  on: () => Pick<Installed, 'machine' | 'service' | 'sandhaven' | 'traces'>,
): void {
  const tool = (name: string, parameters: Record<string, unknown>) => must(on().service, name, parameters);
  const inside = async (command: string) => (await tool('RunCommand', { sandbox: 'it', command }))['stdout'];

  describe('a sandbox', () => {
    it('is created by the command line', async () => {
      await on().sandhaven('create --name it');
      expect(await tool('GetSandbox', { sandbox: 'it' })).toMatchObject({ state: 'started' });
    });

    it.each([
      ['python', 'print(2 ** 100)', '1267650600228229401496703205376\n'],
      ['javascript', 'console.log([1, 2].map((n) => n * 2).join())', '2,4\n'],
      ['typescript', 'const n: number = 7; console.log(n)', '7\n'],
    ])('runs %s', async (language, code, stdout) => {
      const { id } = await tool('CreateSandbox', { language, ephemeral: true, memory_gb: 1 });
      expect(await tool('RunCode', { sandbox: id, code, timeout_seconds: 300 })).toMatchObject({
        stdout,
        exit_code: 0,
      });
      await tool('DeleteSandbox', { sandbox: id });
    });

    it('keeps files, and finds them', async () => {
      await tool('WriteFile', { sandbox: 'it', path: 'notes/a.txt', content: 'first line\n' });
      expect(await tool('ReadFile', { sandbox: 'it', path: 'notes/a.txt' })).toMatchObject({
        content: 'first line\n',
      });
      await tool('ReplaceInFiles', {
        sandbox: 'it',
        pattern: 'first',
        replacement: 'second',
        files: ['notes/a.txt'],
      });
      expect(await inside('cat notes/a.txt')).toBe('second line\n');
    });

    it('keeps the state of a session', async () => {
      const { session_id: session } = await tool('CreateSession', { sandbox: 'it', session_id: 's' });
      expect(session).toBe('s');
      await tool('RunSessionCommand', { sandbox: 'it', session_id: 's', command: 'cd /tmp; export A=kept' });
      expect(
        await tool('RunSessionCommand', { sandbox: 'it', session_id: 's', command: 'echo $A in $PWD' }),
      ).toMatchObject({ output: 'kept in /tmp\n' });
    });

    it('commits to a repository of its own', async () => {
      await inside(
        'git init -q r && cd r && git config user.email a@b.c && git config user.name a && echo x > f',
      );
      await tool('GitAdd', { sandbox: 'it', path: 'r', files: ['f'] });
      await tool('GitCommit', {
        sandbox: 'it',
        path: 'r',
        message: 'add f',
        author_name: 'A',
        author_email: 'a@example.org',
      });
      expect(await inside('cd r && git log --format=%s')).toBe('add f\n');
    });

    it('lets ssh in', async () => {
      expect(await on().sandhaven('ssh it -- echo over ssh')).toBe('over ssh\n');
    });

    it('shows a port of its own', async () => {
      await tool('RunCommand', {
        sandbox: 'it',
        command: 'echo seen > index.html; setsid -f python3 -m http.server 8000 >/dev/null 2>&1',
      });
      const { url } = await tool('GetPortPreviewUrl', { sandbox: 'it', port: 8000, signed: true });
      const look = `for i in $(seq 60); do curl --silent --fail --location --cookie '' '${url}' && exit 0; sleep 1; done; exit 1`;
      expect(await on().machine.must(look)).toBe('seen\n');
    });

    it('comes back from the archive with its files', async () => {
      await tool('StopSandbox', { sandbox: 'it' });
      await tool('ArchiveSandbox', { sandbox: 'it' });
      await tool('StartSandbox', { sandbox: 'it' });
      expect(await inside('cat notes/a.txt')).toBe('second line\n');
    });

    it('leaves nothing behind when it is deleted', async () => {
      await on().sandhaven('rm it');
      expect(await on().traces()).toEqual(noTraces);
    });
  });
}
