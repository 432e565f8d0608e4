/** The agent's SFTP server, packet by packet: what no client of OpenSSH sends. */
import type { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RunningProcess } from '../../../src/control/ports/index.ts';
import { type ScratchSandbox, startScratchSandbox } from '../scratch-sandbox.ts';

const KiB = 1024;
const STATUS = { ok: 0, eof: 1, noSuchFile: 2, failure: 4, badMessage: 5, unsupported: 8 };
const NO_ATTRIBUTES = u32(0);

let sandbox: ScratchSandbox;
let server: RunningProcess;
let packets: AsyncGenerator<Buffer>;
let id = 0;
beforeAll(async () => {
  sandbox = await startScratchSandbox();
});
afterAll(() => sandbox[Symbol.asyncDispose]());
beforeEach(async () => {
  server = await sandbox.agent.openSftp(sandbox.id);
  packets = packetsOf(server.stdout);
  server.stdin.write(framed(Buffer.concat([Buffer.from([1]), u32(3)])));
  expect((await next()).subarray(0, 5)).toEqual(Buffer.from([2, 0, 0, 0, 3]));
});
afterEach(() => server.close());

function u32(number: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(number);
  return bytes;
}
function u64(number: number | bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(number));
  return bytes;
}
const string = (bytes: string | Buffer) => Buffer.concat([u32(Buffer.byteLength(bytes)), Buffer.from(bytes)]);
const framed = (packet: Buffer) => Buffer.concat([u32(packet.length), packet]);

async function* packetsOf(stream: Readable): AsyncGenerator<Buffer> {
  let held = Buffer.alloc(0);
  for await (const chunk of stream) {
    held = Buffer.concat([held, chunk]);
    while (held.length >= 4 && held.length >= 4 + held.readUInt32BE(0)) {
      const end = 4 + held.readUInt32BE(0);
      yield held.subarray(4, end);
      held = held.subarray(end);
    }
  }
}
async function next(): Promise<Buffer> {
  const { value, done } = await packets.next();
  if (done) throw new Error('the server has closed');
  return value;
}
function send(kind: number, ...fields: Buffer[]): void {
  id += 1;
  server.stdin.write(framed(Buffer.concat([Buffer.from([kind]), u32(id), ...fields])));
}
/** The answer's kind, and what comes after its number. */
async function ask(
  kind: number,
  ...fields: Buffer[]
): Promise<{ kind: number; body: Buffer; status: number }> {
  send(kind, ...fields);
  const answer = await next();
  expect(answer.readUInt32BE(1)).toBe(id);
  const body = answer.subarray(5);
  return { kind: answer[0] ?? 0, body, status: answer[0] === 101 ? body.readUInt32BE(0) : -1 };
}
async function open(path: string | Buffer, flags: number): Promise<Buffer> {
  const { kind, body } = await ask(3, string(path), u32(flags), NO_ATTRIBUTES);
  expect(kind).toBe(102);
  return Buffer.from(body);
}

describe('a file', () => {
  it('is read and written at any place, with many requests under way', async () => {
    const handle = await open('pieces', 0x1a);
    const pieces = Array.from({ length: 64 }, (_, index) => Buffer.alloc(32 * KiB, index));
    for (const [index, piece] of pieces.entries()) send(6, handle, u64(index * 32 * KiB), string(piece));
    for (const _ of pieces) expect((await next())[0]).toBe(101);
    const back = await open('pieces', 1);
    for (const index of pieces.keys()) send(5, back, u64(index * 32 * KiB), u32(32 * KiB));
    for (const piece of pieces) expect((await next()).subarray(9)).toEqual(piece);
    expect(await ask(5, back, u64(64 * 32 * KiB), u32(10))).toMatchObject({ status: STATUS.eof });
    expect(await ask(5, back, u64(2n ** 64n - 1n), u32(10))).toMatchObject({ kind: 101 });
    expect(await ask(4, back)).toMatchObject({ status: STATUS.ok });
  });

  it('returns at most as many bytes at once as the server announces', async () => {
    await sandbox.sh('truncate -s 2M zeros');
    const handle = await open('zeros', 1);
    const { kind, body } = await ask(5, handle, u64(0), u32(0xffffffff));
    expect(kind).toBe(103);
    const limits = (await ask(200, string('limits@openssh.com'))).body;
    expect(body.readUInt32BE(0)).toBe(Number(limits.readBigUInt64BE(8)));
    expect([0, 8, 16, 24].map((at) => Number(limits.readBigUInt64BE(at)))).toEqual([
      ...[256 * KiB, 255 * KiB, 255 * KiB, 256],
    ]);
  });

  it('may have any bytes as its name', async () => {
    const name = Buffer.from([0x61, 0xff, 0x0a, 0xfe]);
    await ask(4, await open(name, 0x0a));
    expect((await sandbox.sh('ls | grep -c "^a"; ls -b | grep -F "a\\377"')).stdout).toContain(
      'a\\377\\n\\376',
    );
    expect(await ask(13, string(name))).toMatchObject({ status: STATUS.ok });
    expect(await ask(3, string('a\0b'), u32(1), NO_ATTRIBUTES)).toMatchObject({ kind: 101 });
  });

  it('is not opened beyond the bound of handles, and closed ones make room', async () => {
    const handles: Buffer[] = [];
    for (let index = 0; index < 256; index++) handles.push(await open('/etc/passwd', 1));
    expect(await ask(3, string('/etc/passwd'), u32(1), NO_ATTRIBUTES)).toMatchObject({
      status: STATUS.failure,
    });
    expect(await ask(11, string('/etc'))).toMatchObject({ status: STATUS.failure });
    await ask(4, handles[7] as Buffer);
    const again = await open('/etc/passwd', 1);
    expect(handles.some((handle) => handle.equals(again))).toBe(false);
    expect(await ask(5, handles[7] as Buffer, u64(0), u32(1))).toMatchObject({ status: STATUS.failure });
  });

  it('replaces another in a rename only by the posix-rename extension', async () => {
    await sandbox.sh('echo one > one; echo two > two');
    expect(await ask(18, string('one'), string('two'))).toMatchObject({ status: STATUS.failure });
    const extended = [string('posix-rename@openssh.com'), string('one'), string('two')];
    expect(await ask(200, ...extended)).toMatchObject({ status: STATUS.ok });
    expect((await sandbox.sh('cat two; ls one')).stdout).toBe('one\n');
  });
});

describe('a path', () => {
  it('is made absolute, also when its last name is not there', async () => {
    await sandbox.sh('mkdir -p real/deep; ln -sfn real link; ln -sfn nowhere dangling');
    const real = async (path: string) => {
      const { kind, body } = await ask(16, string(path));
      return kind === 104 ? body.toString('utf8', 8, 8 + body.readUInt32BE(4)) : body.readUInt32BE(0);
    };
    expect(await real('')).toBe('/workspace');
    expect(await real('link/deep/..')).toBe('/workspace/real');
    expect(await real('link/new')).toBe('/workspace/real/new');
    expect(await real('new')).toBe('/workspace/new');
    expect(await real('nowhere/new')).toBe(STATUS.noSuchFile);
    expect(await real('/')).toBe('/');
  });
});

describe('the sftp server', () => {
  it('refuses a wrong handle', async () => {
    const folder = Buffer.from((await ask(11, string('/etc'))).body);
    for (const handle of [string(''), string('x'), string(Buffer.alloc(8, 0xff)), folder]) {
      expect(await ask(5, handle, u64(0), u32(1))).toMatchObject({ status: STATUS.failure });
      expect(await ask(6, handle, u64(0), string('x'))).toMatchObject({ status: STATUS.failure });
    }
    expect(await ask(12, await open('/etc/passwd', 1))).toMatchObject({ status: STATUS.failure });
  });

  it('answers a wrong packet, and takes the next one', async () => {
    expect(await ask(3, u32(1_000), Buffer.from('short'))).toMatchObject({ status: STATUS.badMessage });
    expect(await ask(99)).toMatchObject({ status: STATUS.unsupported });
    expect(await ask(200, string('no-such@example'))).toMatchObject({ status: STATUS.unsupported });
    expect(await ask(17, string('/'))).toMatchObject({ kind: 105 });
  });

  it('ends the connection after a breach of the protocol', async () => {
    for (const bytes of [
      u32(0),
      u32(256 * KiB + 1),
      u32(0xffffffff),
      framed(Buffer.from([3])),
      Buffer.alloc(64, 0xee),
    ]) {
      const broken = await sandbox.agent.openSftp(sandbox.id);
      broken.stdout.resume();
      broken.stderr.resume();
      broken.stdin.write(bytes);
      expect(await broken.ended).toMatchObject({ exitCode: 1 });
    }
  });

  it('ends with its client, at any moment', async () => {
    const cut = await sandbox.agent.openSftp(sandbox.id);
    cut.stdin.end(Buffer.concat([u32(100), Buffer.from([1, 0])]));
    expect(await cut.ended).toMatchObject({ exitCode: 0 });
    const running = async () => (await sandbox.sh("pgrep -fc '^sandhaven-agent --sftp' || true")).stdout;
    server.close();
    await expect.poll(running).toBe('0\n');
  });
});
