/** `sandhaven cp`: files in and out through the byte routes of a real HTTP server. */
import { createHash, randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parseCopy, parsePlace } from '../../../src/surfaces/cli/copy/place.ts';
import { type Harness, startHttp } from '../http/http-harness.ts';
import { cliFor } from './cli-harness.ts';

let http: Harness;
let cli: ReturnType<typeof cliFor>;
let folder: string;

beforeAll(async () => {
  http = await startHttp();
  cli = cliFor(http.url);
});

afterAll(() => http.close());

beforeEach(async () => {
  http.files.clear();
  folder = await mkdtemp(join(tmpdir(), 'sandhaven-cp-'));
  return () => rm(folder, { recursive: true });
});

const big = randomBytes(9_000_000);

describe('into a sandbox', () => {
  it('sends a file as it is, and keeps a program one', async () => {
    await writeFile(join(folder, 'tool'), big);
    await chmod(join(folder, 'tool'), 0o755);
    const { code, stdout, stderr } = await cli(['cp', join(folder, 'tool'), 'my box:/opt/tool']);
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: '9.0 MB are in my box:/opt/tool\n',
      stderr: '',
    });
    expect(digest(http.files.get('/opt/tool')?.content)).toBe(digest(big));
    expect(http.files.get('/opt/tool')?.mode).toBe(0o755);
  });

  it('puts it into a directory under its own name', async () => {
    await writeFile(join(folder, 'a.txt'), 'a');
    http.files.set('data/x', { content: Buffer.from('x'), mode: 0o644 });
    await cli(['cp', join(folder, 'a.txt'), 'demo:data']);
    expect(http.files.get('data/a.txt')?.content.toString()).toBe('a');
    const { stdout } = await cli(['cp', join(folder, 'a.txt'), 'demo:/new/', '--json']);
    expect(JSON.parse(stdout)).toEqual({ path: '/new/a.txt', bytes_written: 1 });
  });

  it('writes, and reads, in the name of a Linux user', async () => {
    http.users.length = 0;
    http.files.set('~/x', { content: Buffer.from('x'), mode: 0o644 });
    expect((await cli(['cp', '-u', 'ann', '-', 'demo:~'], { stdin: 'piped' })).code).toBe(2);
    expect((await cli(['cp', '--user', '1000', 'demo:~/x', '-'])).stdout).toBe('x');
    await cli(['cp', '-', 'demo:~/y', '-u', 'ann'], { stdin: 'piped' });
    expect(http.users).toEqual(['ann', '1000', '1000', 'ann', 'ann']);
  });

  it('takes standard input, and an empty file', async () => {
    expect((await cli(['cp', '-', 'demo:piped'], { stdin: 'piped' })).code).toBe(0);
    expect(http.files.get('piped')?.content.toString()).toBe('piped');
    await writeFile(join(folder, 'empty'), '');
    expect((await cli(['cp', join(folder, 'empty'), 'demo:empty'])).stdout).toContain('0 bytes are in');
    expect(http.files.get('empty')?.content.length).toBe(0);
  });

  it('sends a file of /proc, whose size is said to be 0', async () => {
    await cli(['cp', '/proc/self/status', 'demo:status']);
    expect(http.files.get('status')?.content.toString()).toContain('Name:');
  });

  it('refuses a directory, and says how to pack it', async () => {
    const { code, stderr } = await cli(['cp', folder, 'demo:x']);
    expect(code).toBe(2);
    expect(stderr).toContain('is a directory, and only files are copied.');
    expect(stderr).toContain('Pack it: tar cz');
  });

  it('reports a refusal of the service while the body is on its way', async () => {
    await writeFile(join(folder, 'big'), big);
    const env = { SANDBOX_API_URL: http.url, SANDBOX_API_KEY: 'wrong' };
    expect((await cli(['cp', join(folder, 'big'), 'demo:big'], { env })).code).toBe(3);
    const refused = await cli(['cp', join(folder, 'big'), 'demo:a\0b']);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(http.files.has('big')).toBe(false);
  });

  it('refuses a file that is not there, before anything is sent', async () => {
    const { code, stderr } = await cli(['cp', join(folder, 'none'), 'demo:x']);
    expect(code).toBe(2);
    expect(stderr).toContain('ENOENT');
  });
});

describe('out of a sandbox', () => {
  beforeEach(() => {
    http.files.set('big', { content: big, mode: 0o755 });
    http.files.set('shrinking', { content: Buffer.from('0123456789'), mode: 0o644 });
  });

  it('writes a file as it is, and keeps a program one', async () => {
    const { code, stdout } = await cli(['cp', 'demo:big', folder]);
    expect(code).toBe(0);
    expect(stdout).toBe(`9.0 MB are in ${join(folder, 'big')}\n`);
    expect(digest(await readFile(join(folder, 'big')))).toBe(digest(big));
    expect((await stat(join(folder, 'big'))).mode & 0o100).toBe(0o100);
    expect(await readdir(folder)).toEqual(['big']);
  });

  it('writes to standard output, and nothing else there', async () => {
    http.files.set('a', { content: Buffer.from('abc'), mode: 0o644 });
    expect(await cli(['cp', 'demo:a', '-'])).toEqual({ code: 0, stdout: 'abc', stderr: '' });
    expect((await cli(['cp', 'demo:a', '-', '--json'])).stdout).toBe('abc');
  });

  it('shows progress on a terminal, and erases it', async () => {
    const { stderr } = await cli(['cp', 'demo:big', join(folder, 'x')], { tty: true });
    expect(stderr).toContain('Copying from demo:');
    expect(stderr.endsWith('\r\x1b[K')).toBe(true);
  });

  it('leaves the file here as it was when the copy breaks off', async () => {
    await writeFile(join(folder, 'x'), 'before');
    const { code, stderr } = await cli(['cp', 'demo:shrinking', join(folder, 'x')]);
    expect(code).toBe(7);
    expect(stderr).toContain('Nothing was changed here.');
    expect(await readFile(join(folder, 'x'), 'utf8')).toBe('before');
    expect(await readdir(folder)).toEqual(['x']);
  });

  it('replaces the file behind a link, with its own mode', async () => {
    await writeFile(join(folder, 'real'), 'before');
    await chmod(join(folder, 'real'), 0o640);
    await symlink('real', join(folder, 'link'));
    await cli(['cp', 'demo:big', join(folder, 'link')]);
    const { mode, size } = await stat(join(folder, 'real'));
    expect([mode & 0o777, size]).toEqual([0o640, 9_000_000]);
  });

  it('writes to a device, and leaves it there', async () => {
    expect((await cli(['cp', 'demo:big', '/dev/null'])).code).toBe(0);
    expect((await stat('/dev/null')).isCharacterDevice()).toBe(true);
  });

  it('refuses directories on both sides', async () => {
    http.files.set('src/a', { content: Buffer.from('a'), mode: 0o644 });
    const { code, stderr } = await cli(['cp', 'demo:src', folder]);
    expect(code).toBe(2);
    expect(stderr).toContain("'demo:src' is a directory, and only files are copied.");
    await mkdir(join(folder, 'big'));
    expect((await cli(['cp', 'demo:big', folder])).code).toBe(2);
  });

  it('refuses what is not there, here and inside', async () => {
    expect((await cli(['cp', 'demo:none', folder])).code).toBe(4);
    expect((await cli(['cp', 'demo:big', join(folder, 'none', 'x')])).stderr).toContain('ENOENT');
    expect(await readdir(folder)).toEqual([]);
  });

  it('takes no name that leads out of the folder', async () => {
    http.files.set('..', { content: Buffer.from('x'), mode: 0o644 });
    expect((await cli(['cp', 'demo:..', `${folder}/`])).code).toBe(2);
    expect(await readdir(folder)).toEqual([]);
  });
});

describe('the ends of a copy', () => {
  it.each([
    ['demo:a', { kind: 'sandbox', sandbox: 'demo', path: 'a' }],
    ['my box:/a:b', { kind: 'sandbox', sandbox: 'my box', path: '/a:b' }],
    ['./a:b', { kind: 'local', path: './a:b' }],
    ['/a:b', { kind: 'local', path: '/a:b' }],
    ['a', { kind: 'local', path: 'a' }],
    ['-', { kind: 'standard' }],
  ])('%s', (text, place) => {
    expect(parsePlace(text)).toEqual(place);
  });

  it.each([
    [[]],
    [['a']],
    [['a', 'b']],
    [['-', '-']],
    [['a:x', 'b:y']],
    [['a', 'b:', 'c']],
    [['a', 'b:']],
    [['', 'b:x']],
    [[':x', 'b:x']],
    [['a', 'b:x', 'c']],
  ])('%j are refused', (words) => {
    expect(() => parseCopy(words)).toThrow(expect.objectContaining({ code: 'invalid_argument' }));
  });
});

function digest(bytes: Buffer | undefined): string {
  return createHash('sha256')
    .update(bytes ?? '')
    .digest('hex');
}
