/** Which registries images may come from: others are refused before anything is asked. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseAllowedImages } from '../../../src/model/registries.ts';
import { createImages, type LocalImages } from '../../../src/runtime/images/images.ts';
import { createTestHelpers, gatesIn, unpackPath } from '../helpers.ts';
import { tarGz } from '../tar.ts';
import { digestOf, type RawRegistry, startRawRegistry } from './raw-registry.ts';

const log = { info() {}, warn() {}, error() {} };

let registry: RawRegistry;
let dataDir: string;
let programs: string[];
let asked: string[];

beforeEach(async () => {
  registry = await startRawRegistry();
  registry.put('team/app', { layers: [tarGz([{ name: 'a', content: 'a' }])] });
  asked = [];
  registry.trouble = ({ path }) => {
    asked.push(path);
    return null;
  };
  dataDir = await mkdtemp(join(tmpdir(), 'sandhaven-allowed-'));
  programs = [];
});

afterEach(async () => {
  await registry.close();
  await rm(dataDir, { recursive: true, force: true });
});

async function serviceWith(allow: string): Promise<LocalImages> {
  const images = createImages({
    dataDir,
    cacheDir: dataDir,
    helpers: createTestHelpers(programs),
    unpackPath,
    gates: gatesIn(dataDir),
    rules: { mirrors: [], allowed: parseAllowedImages('--registry-allow', allow) },
    log,
  });
  await images.init();
  programs.length = 0;
  return images;
}

const name = () => `${registry.address}/team/app:1`;

describe('an allow-list', () => {
  it('lets in what it names', async () => {
    const images = await serviceWith(`docker.io,${registry.address}/team/*`);
    expect(images.check(name())).toBe(name());
    expect(await images.ensure(name())).toMatchObject({ reference: name() });
  });

  it('refuses everything else by name, before anything is contacted', async () => {
    const images = await serviceWith(`docker.io,${registry.address}/other/*`);
    for (const refused of [() => images.ensure(name()), async () => images.check(name())]) {
      await expect(refused()).rejects.toMatchObject({
        code: 'permission_denied',
        message: expect.stringContaining(`${registry.address}/team/app`),
        fields: { parameter: 'image', hint: expect.stringContaining('docker.io') },
      });
    }
    expect({ programs, asked }).toEqual({ programs: [], asked: [] });
  });

  it('holds for what was pulled before it was made', async () => {
    await (await serviceWith(`all,${registry.address}`)).ensure(name());
    await expect((await serviceWith('none')).ensure(name())).rejects.toMatchObject({
      code: 'permission_denied',
    });
  });

  it('of nothing leaves the images of the project', async () => {
    const images = await serviceWith('none');
    expect(images.check('base')).toBe('base');
  });
});

describe('an image that names other servers for its layers', () => {
  it('is refused, and none of them is asked', async () => {
    const other = await startRawRegistry();
    const contacted: string[] = [];
    other.trouble = ({ path }) => {
      contacted.push(path);
      return null;
    };
    try {
      const layer = tarGz([{ name: 'b', content: 'b' }]);
      registry.put('team/far', { layers: [layer], urls: [`http://${other.address}/layer`] });
      const images = await serviceWith(`all,${registry.address}`);
      await expect(images.ensure(`${registry.address}/team/far:1`)).rejects.toMatchObject({
        code: 'failed_precondition',
        message: expect.stringContaining('elsewhere'),
      });
      expect(contacted).toEqual([]);
      expect(asked.some((path) => path.includes(digestOf(layer)))).toBe(false);
    } finally {
      await other.close();
    }
  });
});
