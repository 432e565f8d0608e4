/** Private images: what credentials open, to whom they are sent, and where they never show. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { toProblem } from '../../../src/model/errors.ts';
import { createImages, type LocalImages } from '../../../src/runtime/images/images.ts';
import { createTestHelpers, gatesIn, naming, unpackPath } from '../helpers.ts';
import { type Kept, keptIn } from './accounts.ts';
import { type Asked, type AskingServer, startAskingServer, TOKEN } from './asking-server.ts';
import { put, type Registry, startRegistry } from './registry.ts';
import { startStallingRegistry } from './stalling-registry.ts';

const account = { username: 'robot', password: 'cAnArY:with "odd" \\ signs' };
const basic = Buffer.from(`${account.username}:${account.password}`).toString('base64');

let registry: Registry;
let open: Registry;
let scratch: string;
let kept: Kept;
let images: LocalImages;
let logged: unknown[];

beforeAll(async () => {
  [registry, open] = await Promise.all([startRegistry(account), startRegistry()]);
  const image = { layers: [(folder: string) => put(folder, 'etc/here', 'yes')] };
  await registry.push('team/private:1', image);
  await open.push('team/public:1', image);
});

afterAll(() => Promise.all([registry.remove(), open.remove()]));

beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'sandhaven-credentials-'));
  kept = keptIn(scratch);
  logged = [];
  const write = (...words: unknown[]) => logged.push(words);
  images = createImages({
    dataDir: join(scratch, 'data'),
    cacheDir: scratch,
    helpers: createTestHelpers(),
    unpackPath,
    gates: gatesIn(scratch),
    rules: naming(registry.address, open.address),
    registries: kept,
    log: { info: write, warn: write, error: write },
  });
  await images.init();
});

afterEach(async () => {
  expect(readdirSync(kept.folder)).toEqual([]);
  await rm(scratch, { recursive: true, force: true });
});

const name = () => `${registry.address}/team/private:1`;

describe('a private image', () => {
  it('[SBX-CREATE-10] is pulled with the credentials of its registry', async () => {
    kept.put({ registry: registry.address, ...account });
    const { digest } = await images.ensure(name());
    expect(readFileSync(join(images.rootfsPath(digest), 'etc/here'), 'utf8')).toBe('yes');
  });

  it('is not found without them, and the hint names the command that gives them', async () => {
    await expect(images.ensure(name())).rejects.toMatchObject({
      code: 'not_found',
      fields: { resource: 'image', hint: expect.stringContaining(`registries add ${registry.address}`) },
    });
  });

  it('is not found with those of another registry only', async () => {
    kept.put({ registry: open.address, ...account });
    await expect(images.ensure(name())).rejects.toMatchObject({ code: 'not_found' });
  });

  it.each([
    ['password', { ...account, password: 'wrong' }],
    ['username', { ...account, username: 'nobody' }],
  ])('is refused with a wrong %s, and nothing said of either', async (_what, wrong) => {
    kept.put({ registry: registry.address, ...wrong });
    const error = await images.ensure(name()).catch((thrown: unknown) => thrown);
    const problem = toProblem(error, 'r');
    expect(problem).toMatchObject({ code: 'permission_denied', parameter: 'image', retryable: false });
    expect(JSON.stringify(problem)).not.toContain(wrong.password);
  });

  it('is not found again once they are removed, and what was pulled with them stays', async () => {
    kept.put({ registry: registry.address, ...account });
    const { digest } = await images.ensure(name());
    kept.remove(registry.address);
    expect(await images.ensure(name())).toMatchObject({ digest });
    await registry.push('team/private:2', { layers: [(folder) => put(folder, 'b')] });
    await expect(images.ensure(`${registry.address}/team/private:2`)).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('does not keep anybody from public ones of a registry that needs no credentials', async () => {
    kept.put({ registry: open.address, ...account });
    await images.ensure(`${open.address}/team/public:1`);
  });
});

describe('credentials', () => {
  let server: AskingServer | null = null;

  afterEach(async () => {
    await server?.close();
    server = null;
  });

  it('go to the token service that the registry names, and not where it redirects to', async () => {
    server = await startAskingServer(open.address);
    kept.put({ registry: server.address, ...account });
    await images.ensure(`${server.address}/team/public:1`);
    expect(sent(server.asked.token)).toEqual(new Set([`Basic ${basic}`]));
    expect(sent(server.asked.registry)).toEqual(new Set([undefined, `Bearer ${TOKEN}`]));
    expect(sent(server.asked.storage)).toEqual(new Set([undefined]));
  });

  it('go to the registry that asks for them itself, and not where it redirects to', async () => {
    server = await startAskingServer(open.address, `Basic ${basic}`);
    kept.put({ registry: server.address, ...account });
    await images.ensure(`${server.address}/team/public:1`);
    expect(sent(server.asked.registry)).toEqual(new Set([undefined, `Basic ${basic}`]));
    expect(sent(server.asked.storage)).toEqual(new Set([undefined]));
  });

  it('are in no list of processes, log, error or file of the data directory while they are used', async () => {
    kept.put({ registry: registry.address, ...account });
    const seen = watchProcesses();
    await images.ensure(name());
    kept.put({ registry: registry.address, ...account, password: `${account.password}-wrong` });
    const error = await images
      .ensure(`${registry.address}/team/private:3`)
      .catch((thrown: unknown) => thrown);
    const { commands, modes } = await seen.end();
    // It was looked at while skopeo ran and the file was there.
    expect(commands.some((line) => line.includes('skopeo') && line.includes('authfile'))).toBe(true);
    expect(modes.length).toBeGreaterThan(0);
    expect(new Set(modes)).toEqual(new Set([0o600]));
    expect(statSync(kept.folder).mode & 0o777).toBe(0o700);
    const everything = [
      ...commands,
      JSON.stringify(logged),
      textOf(error),
      ...filesOf(join(scratch, 'data')),
    ];
    for (const secret of [
      account.password,
      basic,
      'cAnArY',
      Buffer.from('cAnArY').toString('base64').slice(0, 7),
    ]) {
      expect(everything.filter((text) => text.includes(secret))).toEqual([]);
    }
  });

  it('are gone from memory as soon as a pull is given up', async () => {
    const stalling = await startStallingRegistry(open.address);
    try {
      kept.put({ registry: stalling.address, ...account });
      const controller = new AbortController();
      const canceled = images.ensure(`${stalling.address}/team/public:1`, { signal: controller.signal });
      await stalling.stalled;
      expect(readdirSync(kept.folder)).toHaveLength(1);
      controller.abort();
      await expect(canceled).rejects.toMatchObject({ code: 'unavailable' });
      await expect.poll(() => readdirSync(kept.folder)).toEqual([]);
    } finally {
      await stalling.close();
    }
  });

  it('are removed by the next start when a killed service left them', async () => {
    mkdirSync(kept.folder, { recursive: true });
    writeFileSync(join(kept.folder, 'left.json'), 'x');
    await images.init();
    expect(existsSync(join(kept.folder, 'left.json'))).toBe(false);
  });

  /** Command lines and environments of all processes, and modes of files with credentials, again and again. */
  function watchProcesses() {
    const commands = new Set<string>();
    const modes: number[] = [];
    const look = () => {
      for (const pid of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
        for (const file of ['cmdline', 'environ']) commands.add(readIfThere(`/proc/${pid}/${file}`));
      }
      for (const file of readdirSync(kept.folder)) {
        const mode = statSync(join(kept.folder, file), { throwIfNoEntry: false })?.mode;
        if (mode !== undefined) modes.push(mode & 0o777);
      }
    };
    const timer = setInterval(look, 5);
    return {
      async end() {
        clearInterval(timer);
        return { commands: [...commands], modes };
      },
    };
  }
});

function sent(asked: Asked[]): Set<string | undefined> {
  return new Set(asked.map(({ authorization }) => authorization));
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

/** With its causes, as a log would write them. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return `${error.stack} ${JSON.stringify(error)} ${error.cause ? textOf(error.cause) : ''}`;
}

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'));
}
