/**
 * Linux users of calls in images as people have them: Debian, with Python, with Node and its user, one with busybox alone
 * as Alpine is, and one without a shell. A run of `make test-deep PART=programs`.
 */
import { execFileSync } from 'node:child_process';
import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { put, type Registry, startRegistry } from '../../images/registry/registry.ts';
import { call, must, type Service, startService } from '../../support/service.ts';
import { debianLayer } from './debian-layer.ts';

const MINUTES = 60_000;

let registry: Registry;
let service: Service;

beforeAll(async () => {
  registry = await startRegistry();
  const push = async (name: string, ...layers: ((folder: string) => void)[]) =>
    registry.push(`${name}:1`, { layers });
  const suite = 'trixie';
  await push('debian', await debianLayer(suite, ''));
  await push('python', await debianLayer(suite, 'python3-minimal'));
  await push('node', await debianLayer(suite, 'nodejs'), (folder) => {
    put(folder, 'etc/passwd', 'root:x:0:0:root:/root:/bin/bash\nnode:x:1000:1000::/home/node:/bin/bash\n');
    put(folder, 'etc/group', 'root:x:0:\nnode:x:1000:\n');
    put(folder, 'home/node/.keep', '');
  });
  const busybox = await debianLayer(suite, 'busybox-static');
  await push('busybox', (folder) => {
    const whole = join(folder, 'whole');
    busybox(whole);
    execFileSync('cp', [join(whole, 'usr/bin/busybox'), folder]);
    rmSync(whole, { recursive: true });
    put(folder, 'bin/.keep', '');
    put(folder, 'root/.keep', '');
    execFileSync('mv', [join(folder, 'busybox'), join(folder, 'bin/busybox')]);
    for (const name of ['sh', 'ash', 'id', 'stat', 'pwd', 'cat', 'touch', 'mkdir', 'whoami', 'chown']) {
      symlinkSync('busybox', join(folder, 'bin', name));
    }
    put(
      folder,
      'etc/passwd',
      'root:x:0:0:root:/root:/bin/ash\nnobody:x:65534:65534:nobody:/:/sbin/nologin\n',
    );
    put(folder, 'etc/group', 'root:x:0:root\nwheel:x:10:root\nnobody:x:65534:\n');
    put(folder, 'etc/shadow', 'root:*::0:::::\nnobody:!::0:::::\n', 0o640);
  });
  await push('shellless', (folder) => {
    put(
      folder,
      'etc/passwd',
      'root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532::/home/nonroot:/sbin/nologin\n',
    );
    put(folder, 'etc/group', 'root:x:0:\nnonroot:x:65532:\n');
  });
  service = await startService({ flags: ['--registry-allow', `all,${registry.address}`] });
}, 20 * MINUTES);

afterAll(async () => {
  await service?.stop();
  await registry?.remove();
}, 2 * MINUTES);

/** What a user sees of a call: name, folder, home, umask, and the owner of a file that it makes. */
const LOOK = 'whoami; pwd; cd ~ && pwd; umask; touch made && stat -c "%U:%G %a" made';

const images: [image: string | undefined, sudo: boolean, own: string | null][] = [
  [undefined, true, null],
  ['debian', false, null],
  ['python', false, null],
  ['node', false, 'node'],
  ['busybox', false, null],
];

describe.each(images)('in the image %s', (name, sudo, own) => {
  let sandbox: string;
  beforeAll(async () => {
    const image = name === undefined ? {} : { image: `${registry.address}/${name}:1` };
    sandbox = String((await must(service, 'CreateSandbox', { ...image, disk_gb: 2, user: 'usual' }))['id']);
  }, 5 * MINUTES);

  const run = async (command: string, user?: string) =>
    String((await must(service, 'RunCommand', { sandbox, command, ...(user ? { user } : {}) }))['output']);
  const seen = (user: string) => `${user}\n/home/${user}\n/home/${user}\n0022\n${user}:${user} 644\n`;

  it('the usual user, a new one and root have their own homes, files and umask', async () => {
    expect(await run(LOOK)).toBe(seen('usual'));
    expect(await run(LOOK, 'another')).toBe(seen('another'));
    expect(await run(LOOK, 'root')).toBe('root\n/root\n/root\n0022\nroot:root 644\n');
    if (own !== null)
      expect((await run('id -un; id -u; pwd', own)).split('\n')).toEqual([own, '1000', '/home/node', '']);
  });

  it('files come from the home and belong to the user', async () => {
    await must(service, 'WriteFile', { sandbox, path: '~/a/b.txt', content: 'x', user: 'another' });
    expect(await run('stat -c "%U %a %n" ~/a ~/a/b.txt', 'another')).toBe(
      'another 755 /home/another/a\nanother 644 /home/another/a/b.txt\n',
    );
    const { body } = await call(service, 'WriteFile', { sandbox, path: '/etc/x', content: 'x' });
    expect(body).toMatchObject({ code: 'permission_denied' });
  });

  it('sudo works where it is, and only there', async () => {
    const command = 'sudo -n id -u 2>/dev/null || echo none';
    expect(await run(command)).toBe(sudo ? '0\n' : 'none\n');
  });
});

it('an image without a shell refuses commands clearly, and has files of its users', async () => {
  const image = `${registry.address}/shellless:1`;
  const sandbox = String(
    (await must(service, 'CreateSandbox', { image, disk_gb: 1, user: 'nonroot' }))['id'],
  );
  const { body } = await call(service, 'RunCommand', { sandbox, command: 'true' });
  expect(body).toMatchObject({
    ...{ code: 'failed_precondition', detail: "The sandbox's image has neither bash nor sh." },
  });
  await must(service, 'CreateFolder', { sandbox, path: '/open', mode: '777', user: 'root' });
  await must(service, 'WriteFile', { sandbox, path: '/open/a', content: 'x' });
  expect(await must(service, 'GetFileInfo', { sandbox, path: '/open/a' })).toMatchObject({
    owner: 'nonroot',
  });
});
