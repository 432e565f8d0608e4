/** Manifests and configurations over HTTP: what is found, with whose credentials, and to whom they are sent. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RegistryCredential } from '../../../src/control/ports/index.ts';
import { NotReached } from '../../../src/outbound/addresses.ts';
import { createExit } from '../../../src/outbound/exit.ts';
import { createRegistryHttp } from '../../../src/runtime/images/registry/http.ts';
import { parseConfig } from '../../../src/runtime/images/registry/manifest.ts';
import { parseReference } from '../../../src/runtime/images/registry/reference.ts';
import { digestOf, resolveBy } from '../../../src/runtime/images/registry/resolve.ts';
import { type AskingServer, startAskingServer, TOKEN } from './asking-server.ts';
import { put, type Registry, run, startRegistry } from './registry.ts';

const account = { username: 'robot', password: 'cAnArY:with "odd" \\ signs' };
const basic = `Basic ${Buffer.from(`${account.username}:${account.password}`).toString('base64')}`;
const { signal } = new AbortController();
const asker = { owner: 'mira', signal };

let open: Registry;
let locked: Registry;
let asking: AskingServer;

beforeAll(async () => {
  [open, locked] = await Promise.all([startRegistry(), startRegistry(account)]);
  const image = {
    layers: [(folder: string) => put(folder, 'etc/here', 'yes')],
    config: ['--config.env', 'COLOR=green', '--config.workingdir', '/srv'],
  };
  await Promise.all([open.push('team/app:1', image), locked.push('team/app:1', image)]);
  asking = await startAskingServer(open.address);
});
afterAll(() => Promise.all([open.remove(), locked.remove(), asking.close()]));

async function read(name: string, credential: Omit<RegistryCredential, 'registry'> | null = null) {
  const reference = parseReference(name);
  const own = credential && { registry: reference.registry, ...credential };
  const credentials = async (registry: string) => (registry === own?.registry ? own : null);
  const http = createRegistryHttp({ credentials, isNamed: () => true, exit: createExit() });
  const source = { reference, isMirror: false };
  const image = await resolveBy((asked) => http.manifest(asked, asker), source, signal);
  const text = await http.blob(source, image.config, asker);
  return { image, text, config: parseConfig(text, name).config };
}

describe('a registry that lets everybody in', () => {
  it('gives the digest that skopeo finds, and the configuration', async () => {
    const { image, text, config } = await read(`${open.address}/team/app:1`);
    const raw = run('skopeo', [
      'inspect',
      '--raw',
      '--tls-verify=false',
      `docker://${open.address}/team/app:1`,
    ]);
    expect(image.digest).toBe(digestOf(raw));
    expect(`sha256:${digestOf(text)}`).toBe(image.config);
    expect(config).toMatchObject({ env: expect.objectContaining({ COLOR: 'green' }), workingDir: '/srv' });
    const exact = await read(`${open.address}/team/app@sha256:${image.digest}`);
    expect(exact.image).toEqual(image);
  });

  it('has no other images', async () => {
    await expect(read(`${open.address}/team/other:1`)).rejects.toMatchObject({ code: 'not_found' });
    await expect(read(`127.0.0.1:1/team/app:1`)).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('a registry with accounts', () => {
  it('is opened by the credential, and by nothing else', async () => {
    const name = `${locked.address}/team/app:1`;
    expect((await read(name, account)).config.workingDir).toBe('/srv');
    await expect(read(name)).rejects.toMatchObject({ code: 'not_found' });
    await expect(read(name, { ...account, password: 'wrong' })).rejects.toMatchObject({
      code: 'permission_denied',
    });
  });
});

describe('a registry with a token service and a storage host', () => {
  it('gets the password at the token service, the token itself, and the storage neither', async () => {
    await read(`${asking.address}/team/app:1`, account);
    expect(asking.asked.token.every(({ authorization }) => authorization === basic)).toBe(true);
    expect(asking.asked.registry.map(({ authorization }) => authorization)).toEqual([
      undefined,
      `Bearer ${TOKEN}`,
      undefined,
      `Bearer ${TOKEN}`,
    ]);
    expect(asking.asked.storage.map(({ authorization }) => authorization)).toEqual([undefined]);
  });
});

describe('the name of a registry', () => {
  /** Reads from a registry that nobody finds, and returns the names that were asked for over sockets. */
  async function askedFor(named: boolean): Promise<string[]> {
    const asked: string[] = [];
    const exit = createExit({
      askServers(host) {
        asked.push(host);
        return Promise.reject(new NotReached(host, 'silent'));
      },
    });
    const http = createRegistryHttp({ credentials: async () => null, isNamed: () => named, exit });
    const source = { reference: parseReference('registry.invalid:5000/team/app:1'), isMirror: false };
    await expect(http.manifest(source, asker)).rejects.toMatchObject({ code: 'unavailable' });
    return asked;
  }

  it('is found over sockets where a member chose it, and by the system where the operator has named it', async () => {
    expect(await askedFor(false)).toEqual(['registry.invalid']);
    expect(await askedFor(true)).toEqual([]);
  });
});

describe('a registry that only a member has named', () => {
  it('is not asked at an address that is not public', async () => {
    const http = createRegistryHttp({
      ...{ credentials: async () => null, isNamed: () => false, exit: createExit() },
    });
    const source = { reference: parseReference(`${open.address}/team/app:1`), isMirror: false };
    await expect(http.manifest(source, asker)).rejects.toMatchObject({
      code: 'permission_denied',
      fields: { parameter: 'image', hint: expect.stringContaining(`--registry-allow all,${open.address}`) },
    });
  });
});
