/** Watches of files in a real sandbox: changes as they happen, by the route and the SDK, and every end of a watch. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FileChange, Sandhaven } from '../../../sdk/src/index.ts';
import { act, mustAct } from '../../support/people.ts';
import { must, type Service, startService } from '../../support/service.ts';

let service: Service;
let client: Sandhaven;

beforeAll(async () => {
  service = await startService();
  client = new Sandhaven({ url: service.url, apiKey: service.apiKey });
  await must(service, 'CreateSandbox', { name: 'box', memory_gb: 1, disk_gb: 1 });
}, 120_000);

afterAll(() => service?.stop());

const run = (command: string, more: object = {}) =>
  must(service, 'RunCommand', { sandbox: 'box', command, ...more });

interface Watch {
  seen: FileChange[];
  /** null, or the error that ended it. */
  ended: Promise<{ code?: string } | null>;
  leave(): void;
}

/** Resolves once the folder is watched. */
async function watch(path: string, options: object = {}, of = client): Promise<Watch> {
  const left = new AbortController();
  const seen: FileChange[] = [];
  const ready = Promise.withResolvers<void>();
  const reading = (async () => {
    for await (const change of of.files.watch('box', path, {
      recursive: true,
      signal: left.signal,
      ...options,
    })) {
      if (change.type === 'ready') ready.resolve();
      else seen.push(change);
    }
    return null;
  })();
  const ended = reading.catch((error: { code?: string }) => error);
  await Promise.race([ready.promise, reading]);
  return { seen, ended, leave: () => left.abort() };
}

const names = ({ seen }: Watch) =>
  seen.map((change) => ('path' in change ? `${change.type} ${change.path}` : change.type));

describe('a watch', () => {
  it('reports what commands, other tools and a whole build change, as it happens', async () => {
    await run('mkdir -p src');
    const watched = await watch('src');
    await must(service, 'WriteFile', { sandbox: 'box', path: 'src/a', content: 'x' });
    await expect.poll(() => names(watched)).toContain('created src/a');
    await run('mkdir -p src/deep/er && echo > src/deep/er/b && rm src/a');
    await expect.poll(() => names(watched)).toContain('removed src/a');
    await expect
      .poll(() => names(watched).filter((name) => name === 'created src/deep/er/b'))
      .toHaveLength(1);
    const begin = performance.now();
    await must(service, 'WriteFile', { sandbox: 'box', path: 'src/deep/late', content: 'x' });
    await expect.poll(() => names(watched).join(), { interval: 5 }).toContain('src/deep/late');
    expect(performance.now() - begin).toBeLessThan(2_000);
    // A file that has no name yet is none.
    expect(names(watched).join()).not.toContain('#');
    watched.leave();
  });

  it('sees what its user may see', async () => {
    await run('mkdir -p /srv/x/closed && chmod 700 /srv/x/closed');
    const watched = await watch('/srv/x', { user: 'ann' });
    await run('touch /srv/x/closed/secret /srv/x/open');
    await expect.poll(() => names(watched)).toContain('created /srv/x/open');
    expect(names(watched).join()).not.toContain('secret');
    watched.leave();
    const refused = await watch('/srv/x/closed', { user: 'ann' }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'permission_denied' });
  });

  it('is refused while programs inside have all inotify instances, and says what to do', async () => {
    const program =
      'import ctypes, time; c = ctypes.CDLL(None)\n' +
      'while c.inotify_init() >= 0: pass\nopen("/tmp/has-all", "w"); time.sleep(5)';
    await run(`python3 -c '${program}' > /dev/null 2>&1 & until test -e /tmp/has-all; do sleep 0.1; done`);
    expect(await watch('.').catch((error: unknown) => error)).toMatchObject({
      code: 'resource_exhausted',
      message: expect.stringContaining('inotify instances'),
    });
    await run('pkill -f inotify_init');
    // The program has its instances until it has ended.
    const again = () => watch('.').then(({ leave }) => leave());
    await expect.poll(() => again().catch((error: unknown) => error)).toBeUndefined();
  });

  it('ends when its folder is gone', async () => {
    await run('mkdir -p gone');
    const { ended } = await watch('gone');
    await run('rm -r gone');
    expect(await ended).toBeNull();
  });

  it('is noted in the audit log as it begins and as it ends', async () => {
    const watched = await watch('.', { recursive: false });
    watched.leave();
    await watched.ended;
    for (const action of ['files.watch', 'files.leave']) {
      const noted = async () => (await mustAct(service, 'ListAudit', { action }))['rows'];
      await expect.poll(noted, { timeout: 5_000 }).not.toEqual([]);
    }
  });

  it('ends with the key that opened it', async () => {
    const { api_key: key, key_id } = await mustAct(service, 'CreateKey', { name: 'short' });
    const other = new Sandhaven({ url: service.url, apiKey: String(key) });
    const watched = await watch('.', {}, other);
    await act(service, 'RevokeKey', { key_id });
    expect(await watched.ended).toMatchObject({ code: 'unauthenticated' });
  });

  it('is activity, and ends with a stop of its sandbox, which says so', async () => {
    const watched = await watch('.');
    await sleep(100);
    await must(service, 'StopSandbox', { sandbox: 'box' });
    expect(await watched.ended).toMatchObject({ code: 'invalid_state' });
    expect(await watch('.').catch((error: unknown) => error)).toMatchObject({ code: 'invalid_state' });
    await must(service, 'StartSandbox', { sandbox: 'box' });
    (await watch('.')).leave();
  }, 60_000);
});
