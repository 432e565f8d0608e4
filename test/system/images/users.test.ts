/** Linux users of calls, in sandboxes of images that have users, other users, none, or no shell. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { put, type Registry, startRegistry } from '../../images/registry/registry.ts';
import { shellLayer } from '../../images/shell-image.ts';
import { act, mustAct } from '../../support/people.ts';
import { call, must, type Service, startService } from '../../support/service.ts';

const ROOT = 'root:x:0:0:root:/root:/bin/sh\n';

let registry: Registry;
let service: Service;

beforeAll(async () => {
  registry = await startRegistry();
  const withUsers = (users: string, groups: string) => (folder: string) => {
    put(folder, 'etc/passwd', ROOT + users);
    put(folder, 'etc/group', `root:x:0:\n${groups}`);
  };
  await registry.push('plain:1', { layers: [shellLayer, withUsers('', '')] });
  const node = withUsers('node:x:1000:1000::/home/node:/bin/sh\n', 'node:x:1000:\nusers:x:100:node\n');
  await registry.push('node:1', { layers: [shellLayer, node] });
  await registry.push('userless:1', { layers: [shellLayer] });
  const shellless = withUsers('nonroot:x:65532:65532::/home/nonroot:/sbin/nologin\n', 'nonroot:x:65532:\n');
  await registry.push('shellless:1', { layers: [shellless, (folder) => put(folder, 'tmp/x', '')] });
  service = await startService({ flags: ['--registry-allow', registry.address] });
}, 120_000);

afterAll(async () => {
  await service?.stop();
  await registry?.remove();
});

const create = async (parameters: Record<string, unknown>) =>
  String((await must(service, 'CreateSandbox', { disk_gb: 1, ...parameters }))['id']);
const of = (name: string) => `${registry.address}/${name}:1`;
const run = async (sandbox: string, command: string, user?: string) =>
  String((await must(service, 'RunCommand', { sandbox, command, ...(user ? { user } : {}) }))['output']);

describe('a sandbox with a user', () => {
  let sandbox: string;
  beforeAll(async () => {
    sandbox = await create({ user: 'dev' });
  }, 60_000);
  afterAll(() => must(service, 'DeleteSandbox', { sandbox }));

  it('[WIRE-USER-03] [WIRE-USER-04] does commands, code, sessions and files as that user, in the home', async () => {
    expect(await run(sandbox, 'whoami; pwd; echo $HOME; sudo -n whoami')).toBe(
      'dev\n/home/dev\n/home/dev\nroot\n',
    );
    const code = 'import getpass, os; print(getpass.getuser(), os.getcwd())';
    expect(await must(service, 'RunCode', { sandbox, code })).toMatchObject({ output: 'dev /home/dev\n' });
    const { session_id } = await must(service, 'CreateSession', { sandbox });
    const command = 'id -un; pwd; for i in 1 2 3 4 5; do echo o$i; echo e$i >&2; done';
    expect(await must(service, 'RunSessionCommand', { sandbox, session_id, command })).toMatchObject({
      output: 'dev\n/home/dev\no1\ne1\no2\ne2\no3\ne3\no4\ne4\no5\ne5\n',
    });
    await must(service, 'WriteFile', { sandbox, path: 'a/b.txt', content: 'x' });
    expect(await must(service, 'GetFileInfo', { sandbox, path: '/home/dev/a/b.txt' })).toMatchObject({
      ...{ owner: 'dev', group: 'dev', mode: '0644' },
    });
  });

  it('[WIRE-USER-01] does as another user, and as root, what names one', async () => {
    expect(await run(sandbox, 'id -u; pwd', 'root')).toBe('0\n/root\n');
    expect(await run(sandbox, 'whoami; pwd', 'guest')).toBe('guest\n/home/guest\n');
    const refused = await call(service, 'WriteFile', { sandbox, path: '/etc/made', content: 'x' });
    expect(refused.body).toMatchObject({ code: 'permission_denied' });
    await must(service, 'WriteFile', { sandbox, path: '/etc/made', content: 'x', user: 'root' });
  });

  it('[WIRE-USER-03] clones and commits as that user', async () => {
    await run(
      sandbox,
      'git init -q origin && cd origin && git -c user.name=a -c user.email=a@b.c commit -q --allow-empty -m one',
    );
    await must(service, 'GitClone', { sandbox, url: 'file:///home/dev/origin', path: 'copy' });
    await must(service, 'WriteFile', { sandbox, path: 'copy/new', content: 'x' });
    await must(service, 'GitAdd', { sandbox, path: 'copy', files: ['.'] });
    expect(await run(sandbox, 'stat -c %U copy copy/.git/HEAD copy/.git/index | sort -u')).toBe('dev\n');
  });

  it('shows and sets details of files as that user', async () => {
    await run(sandbox, 'mkdir -p kept && echo 12345 > kept/f && ln -s f kept/l && chmod 640 kept/f');
    await mustAct(service, 'SetFileAttributes', {
      ...{ sandbox, path: '~/kept/f', mode: '600', metadata: { origin: 'test' } },
    });
    const { entries, total_count } = await mustAct(service, 'GetFileDetails', { sandbox, path: 'kept' });
    expect({ entries, total_count }).toMatchObject({
      entries: [
        {
          ...{
            path: 'f',
            type: 'file',
            size: 6,
            mode: '0600',
            owner: 'dev',
            group: 'dev',
            uid: 1000,
            gid: 1000,
          },
          metadata: { origin: 'test' },
        },
        { path: 'l', type: 'symlink', target: 'f', metadata: {} },
      ],
      total_count: 2,
    });
    const refused = await act(service, 'SetFileAttributes', { sandbox, path: '/etc/hosts', mode: '666' });
    expect(refused.body).toMatchObject({ code: 'permission_denied' });
    const none = await act(service, 'SetFileAttributes', { sandbox, path: 'kept/f', owner: 'no-such' });
    expect(none.body).toMatchObject({ code: 'invalid_argument', parameter: 'owner' });
  });

  it('deletes a session with all that it started', async () => {
    const { session_id } = await must(service, 'CreateSession', { sandbox });
    const command = 'sleep 5150 & setsid sleep 5151 & echo begun';
    const { command_id } = await must(service, 'RunSessionCommand', { sandbox, session_id, command });
    expect(await mustAct(service, 'DeleteSession', { sandbox, session_id })).toEqual({
      ...{ session_id, deleted: true },
    });
    expect(await run(sandbox, "pgrep -fc '^sleep 515' || true")).toBe('0\n');
    const logs = await call(service, 'GetSessionCommandLogs', { sandbox, session_id, command_id });
    expect(logs.body).toMatchObject({ code: 'not_found', resource: 'session' });
  });

  it('has the same user after a stop and a start', async () => {
    await must(service, 'StopSandbox', { sandbox });
    await must(service, 'StartSandbox', { sandbox });
    expect(await run(sandbox, 'whoami; cat a/b.txt')).toBe('dev\nx');
    expect(await must(service, 'GetSandbox', { sandbox })).toMatchObject({ user: 'dev' });
  }, 30_000);
});

it('[WIRE-USER-05] an image with root alone gets accounts, without sudo where there is none', async () => {
  const sandbox = await create({ image: of('plain') });
  expect(await run(sandbox, 'id; pwd; echo $SHELL', 'ann')).toBe(
    'uid=1000(ann) gid=1000(ann) groups=1000(ann)\n/home/ann\n/bin/sh\n',
  );
  expect(await run(sandbox, 'id -u; pwd')).toBe('0\n/workspace\n');
});

it('[WIRE-USER-01] an image’s own user has its groups, and a new one the next number', async () => {
  const sandbox = await create({ image: of('node') });
  expect(await run(sandbox, 'id', 'node')).toBe(
    'uid=1000(node) gid=1000(node) groups=1000(node),100(users)\n',
  );
  expect(await run(sandbox, 'id -u', 'ann')).toBe('1001\n');
  // Its home is not there: it works in the root folder, as su does.
  expect(await run(sandbox, 'pwd; echo $HOME', 'node')).toBe('/\n/home/node\n');
});

it('[WIRE-USER-05] an image without users says so, and serves root', async () => {
  const sandbox = await create({ image: of('userless') });
  const { body } = await call(service, 'RunCommand', { sandbox, command: 'true', user: 'ann' });
  expect(body).toMatchObject({ code: 'failed_precondition', parameter: 'user' });
  expect(await run(sandbox, 'echo here')).toBe('here\n');
});

it('an image without a shell runs no commands, and has files of its users', async () => {
  const sandbox = await create({ image: of('shellless') });
  const { body } = await call(service, 'RunCommand', { sandbox, command: 'true', user: 'nonroot' });
  expect(body).toMatchObject({
    ...{ code: 'failed_precondition', detail: "The sandbox's image has neither bash nor sh." },
  });
  await must(service, 'CreateFolder', { sandbox, path: '/open', mode: '777' });
  await must(service, 'WriteFile', { sandbox, path: '/open/a', content: 'x', user: 'nonroot' });
  expect(await must(service, 'GetFileInfo', { sandbox, path: '/open/a' })).toMatchObject({
    owner: 'nonroot',
  });
});

it('[WIRE-USER-03] a snapshot gives its sandboxes its user', async () => {
  await must(service, 'CreateSnapshot', { name: 'of-ann', image: of('plain'), user: 'ann' });
  await expect
    .poll(async () => (await must(service, 'GetSnapshot', { snapshot: 'of-ann' }))['state'], {
      timeout: 20_000,
    })
    .toBe('active');
  const sandbox = await create({ snapshot: 'of-ann' });
  expect(await run(sandbox, 'id -un')).toBe('ann\n');
  const other = await create({ snapshot: 'of-ann', user: 'bob' });
  expect(await run(other, 'id -un')).toBe('bob\n');
}, 30_000);
