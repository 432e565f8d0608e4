/** The configuration file of `sandhaven up`: what it says, what goes before it, and how its faults are named. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseUpOptions } from '../../src/app/options/up-options.ts';
import { configCommand } from '../../src/app/parts/config-command.ts';

let folder: string;
let file: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sandhaven-config-'));
  file = join(folder, 'config.yaml');
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const write = (text: string) => writeFileSync(file, text);
const parse = (flags: string[] = [], env: Record<string, string> = {}) =>
  parseUpOptions(['--config', file, ...flags], env);

async function config(argv: string[], env: Record<string, string> = {}) {
  const written: string[] = [];
  const io = { env, stdout: { write: (text: string) => void written.push(text) } };
  return { code: await configCommand(argv, io as never), stdout: written.join('') };
}

describe('the configuration file', () => {
  it('has a key for each flag', () => {
    write('data-dir: /srv/sandhaven\nwarm-pool: 2\npassword-sign-in: true\nlisten: 0.0.0.0:80\n');
    expect(parse()).toMatchObject({
      ...{ dataDir: '/srv/sandhaven', warmPool: { min: 2, max: 2 }, passwordSignIn: true },
      listen: { host: '0.0.0.0', port: 80 },
    });
  });

  it('has lists where a flag takes commas', () => {
    write('git-allow:\n  - 10.0.0.0/8\n  - 192.168.0.0/16\n');
    expect(parse().gitAllow).toMatchObject([
      { network: '10.0.0.0', prefix: 8 },
      { network: '192.168.0.0', prefix: 16 },
    ]);
  });

  it('goes behind the environment, which goes behind flags', () => {
    write('data-dir: /of/file\n');
    expect(parse().dataDir).toBe('/of/file');
    expect(parse([], { SANDHAVEN_DATA_DIR: '/of/environment' }).dataDir).toBe('/of/environment');
    const flags = ['--data-dir', '/of/flag'];
    expect(parse(flags, { SANDHAVEN_DATA_DIR: '/of/environment' }).dataDir).toBe('/of/flag');
  });

  it('is named by the environment where no flag names one', () => {
    write('data-dir: /of/file\n');
    expect(parseUpOptions([], { SANDHAVEN_CONFIG: file }).dataDir).toBe('/of/file');
    expect(parseUpOptions([], { SANDHAVEN_CONFIG: '' }).dataDir).toBe('/var/lib/sandhaven');
  });

  it.each(['', '# nothing yet\n', 'null\n', 'data-dir:\n'])('may say nothing: %j', (text) => {
    write(text);
    expect(parse().dataDir).toBe('/var/lib/sandhaven');
  });

  it.each([
    ['data-dri: /srv\n', ':1: there is no option', 'Did you mean data-dir?'],
    ['a: 1\napi-key: shv_x\n', ':1: there is no option', 'sandhaven up --help'],
    ['api-key: shv_x\n', ":1: there is no option 'api-key'", 'set SANDBOX_API_KEY'],
    ['\nlisten: nowhere:x\n', 'listen (FILE:2)', ''],
    ['listen: {host: a}\n', 'listen (FILE:1) must be a text', 'sandhaven config check'],
    ['git-allow: [10.0.0.0/8, "a,b"]\n', 'git-allow (FILE:1) has an item', ''],
    ['listen: a\nlisten: b\n', ':2 is no valid YAML', ''],
    ['listen: "a\n', 'is no valid YAML', ''],
    ['- listen\n', ':1 must have a key', 'sandhaven config check'],
    ['listen: a\n---\nlisten: b\n', 'is no valid YAML', ''],
  ])('names what is wrong with %j', (text, detail, hint) => {
    write(text);
    const message = expect.stringContaining(detail.replace('FILE', file));
    expect(parse).toThrow(
      expect.objectContaining({
        code: 'invalid_argument',
        message,
        ...(hint === '' ? {} : { fields: expect.objectContaining({ hint: expect.stringContaining(hint) }) }),
      }),
    );
    expect(parse).not.toThrow(/shv_x/);
  });

  it('must be there, and of a sane size', () => {
    const missing = () => parseUpOptions(['--config', join(folder, 'missing.yaml')], {});
    expect(missing).toThrow(/cannot be read \(ENOENT\)/);
    write(`# ${'x'.repeat(300_000)}\n`);
    expect(parse).toThrow(/is larger than 256 KiB/);
  });
});

describe('sandhaven config', () => {
  it('checks a file', async () => {
    write('data-dir: /srv/sandhaven\nwarm-pool: 2\n');
    expect(await config(['check', file])).toEqual({
      ...{ code: 0, stdout: `${file} is valid; 2 options come from it.\n` },
    });
    write('warm-pool: many\n');
    await expect(config(['check', file])).rejects.toThrow(`warm-pool (${file}:1)`);
    await expect(config(['check'])).rejects.toThrow('No file was given.');
  });

  it('shows each option with its place', async () => {
    write('\nwarm-pool: 2\n');
    const flags = ['--config', file, '--data-dir', '/srv'];
    const { stdout } = await config(['show', ...flags], { SANDHAVEN_LISTEN: '127.0.0.1:80' });
    const lines = stdout.split('\n').map((line) => line.trim().split(/\s{2,}/));
    expect(lines).toContainEqual(['warm-pool', '2', `${file}:2`]);
    expect(lines).toContainEqual(['data-dir', '/srv', '--data-dir']);
    expect(lines).toContainEqual(['listen', '127.0.0.1:80', 'SANDHAVEN_LISTEN']);
    expect(lines).toContainEqual(['audit-kept-days', '90', 'default']);
    const json = JSON.parse((await config(['show', ...flags, '--json'])).stdout);
    expect(json.options).toContainEqual({
      ...{ name: 'warm-pool', value: '2', source: { kind: 'file', file, line: 2 } },
    });
  });
});
