/** Registries as an operator sets them up: by flags and on the command line, for images of a real service. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { put, type Registry, startRegistry } from '../../images/registry/registry.ts';
import { type StallingRegistry, startStallingRegistry } from '../../images/registry/stalling-registry.ts';
import { shellLayer } from '../../images/shell-image.ts';
import { bin, call, type Service, startService } from '../../support/service.ts';

const account = { username: 'robot', password: 'cAnArY-of-the-registry' };
const basic = Buffer.from(`${account.username}:${account.password}`).toString('base64');
const PATIENCE = { timeout: 60_000 };

let closed: Registry;
let open: Registry;
let stalling: StallingRegistry;
let service: Service;

beforeAll(async () => {
  [closed, open] = await Promise.all([startRegistry(account), startRegistry()]);
  stalling = await startStallingRegistry(open.address);
  await closed.push('team/app:1', { layers: [shellLayer] });
  await open.push('copies/team/app:1', { layers: [shellLayer, (folder) => put(folder, 'etc/copy')] });
  const large = randomBytes(200_000).toString('base64');
  await open.push('large:1', { layers: [(folder) => put(folder, 'large', large)] });
  service = await startService({
    flags: [
      ...['--registry-allow', `${closed.address},${stalling.address},mirrored.test/team/*`],
      ...['--registry-mirror', `mirrored.test=${open.address}/copies`],
    ],
  });
}, 120_000);

afterAll(async () => {
  await stalling?.close();
  await service?.stop();
  await Promise.all([closed?.remove(), open?.remove()]);
});

function registries(argv: string[], input = ''): { status: number | null; text: string } {
  const env = { ...process.env, SANDBOX_API_URL: service.url, SANDBOX_API_KEY: service.apiKey };
  const { status, stdout, stderr } = spawnSync(bin, ['registries', ...argv], {
    env,
    input,
    encoding: 'utf8',
  });
  return { status, text: stdout + stderr };
}

async function settled(name: string): Promise<Record<string, unknown>> {
  const get = async () => (await call(service, 'GetSnapshot', { snapshot: name })).body;
  await expect.poll(async () => (await get())['state'], PATIENCE).toMatch(/active|error/);
  return get();
}

const runFolder = () => {
  const instance = readFileSync(join(service.dataDir, 'instance'), 'utf8').trim();
  return `/run/sandhaven-${instance}/registries`;
};

it('[SBX-CREATE-10] a private image is pulled once its credentials are given, and they show nowhere', async () => {
  const image = `${closed.address}/team/app:1`;
  await call(service, 'CreateSnapshot', { name: 'private', image });
  expect(await settled('private')).toMatchObject({
    state: 'error',
    state_reason: expect.stringContaining('without credentials'),
  });
  const added = registries(['add', closed.address, '--username', 'robot'], `${account.password}\n`);
  expect(added).toMatchObject({ status: 0, text: expect.stringContaining(closed.address) });
  const seen = new Set<string>();
  const timer = setInterval(() => {
    for (const line of commandLines()) seen.add(line);
  }, 5);
  await call(service, 'CreateSnapshot', { name: 'private', image });
  expect(await settled('private')).toMatchObject({ state: 'active' });
  clearInterval(timer);
  expect([...seen].some((line) => line.includes('skopeo') && line.includes('authfile'))).toBe(true);
  expect(readdirSync(runFolder())).toEqual([]);
  const told = [...seen, service.log(), added.text, registries(['list']).text];
  for (const secret of [account.password, basic]) {
    expect(told.filter((text) => text.includes(secret))).toEqual([]);
  }
  expect(filesWith([account.password, basic], service.dataDir)).toEqual([]);
  expect(filesWith([closed.address], service.dataDir)).not.toEqual([]);
}, 120_000);

it('an image of a mirror is pulled under its own name, and what is not allowed is refused', async () => {
  const mirrored = await call(service, 'CreateSnapshot', { name: 'm', image: 'mirrored.test/team/app:1' });
  expect(mirrored.body).toMatchObject({ image: 'mirrored.test/team/app:1' });
  expect(await settled('m')).toMatchObject({ state: 'active' });
  for (const image of ['debian:13', 'mirrored.test/other/app', `${open.address}/copies/team/app:1`]) {
    const refused = { status: 403, body: { code: 'permission_denied', parameter: 'image' } };
    expect(await call(service, 'CreateSnapshot', { name: 'refused', image })).toMatchObject(refused);
    expect(await call(service, 'CreateSandbox', { image })).toMatchObject(refused);
  }
  expect(registries(['--json'])).toMatchObject({
    text: expect.stringContaining(`{"registry":"mirrored.test","mirror":"${open.address}/copies"}`),
  });
}, 120_000);

it('a service that is killed while it pulls leaves no credentials behind once it starts again', async () => {
  registries(['add', stalling.address, '--username', 'robot'], account.password);
  await call(service, 'CreateSnapshot', { name: 'stalled', image: `${stalling.address}/large:1` });
  await stalling.stalled;
  await service.kill();
  expect(readdirSync(runFolder())).toHaveLength(1);
  stalling.release();
  await service.restart();
  expect(await settled('stalled')).toMatchObject({ state: 'active' });
  expect(readdirSync(runFolder())).toEqual([]);
}, 120_000);

/** And environments, of all processes of this machine. */
function commandLines(): string[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .flatMap((pid) => ['cmdline', 'environ'].map((file) => readIfThere(`/proc/${pid}/${file}`)));
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

/** Names of those that hold one of these; links are not followed, an image's lead anywhere. */
function filesWith(secrets: string[], folder: string): string[] {
  const found = spawnSync('grep', ['-rlF', '-f', '-', folder], {
    input: secrets.join('\n'),
    encoding: 'utf8',
  });
  expect([0, 1]).toContain(found.status);
  return found.stdout.split('\n').filter((name) => name !== '');
}
