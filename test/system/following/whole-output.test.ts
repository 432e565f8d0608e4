/**
 * Output is what the program wrote: all bytes of both streams, however fast it prints and however slowly it is read. The
 * program waits for its reader as for that of a pipe.
 */
import { spawn } from 'node:child_process';
import { createCipheriv, createHash } from 'node:crypto';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Sandhaven } from '../../../sdk/src/index.ts';
import { inPart } from '../../deep/parts.ts';
import { bin, must } from '../../support/service.ts';
import { type SharedService, sharedService } from '../../support/shared-service.ts';

/** Of each stream; the part `output` of `make test-deep` prints a gigabyte, ten times. */
const BYTES = inPart('output') ? 1_000_000_000 : 6_000_000;
const TIMES = inPart('output') ? 5 : 1;

const TEXT = `seq 1 1000000000 | head -c ${BYTES}`;
const BINARY = `openssl enc -aes-128-ctr -K 00 -iv 00 -in /dev/zero 2>/dev/null | head -c ${BYTES}`;

let service: SharedService;
let client: Sandhaven;

beforeAll(async () => {
  service = await sharedService();
  client = new Sandhaven({ url: service.url, apiKey: service.apiKey });
  await must(service, 'CreateSandbox', { name: 'sb', memory_gb: 1, disk_gb: 1 });
  await must(service, 'CreateSession', { session_id: 's' });
}, 120_000);

afterAll(() => service?.stop());

function cli(...args: string[]) {
  const env = { ...process.env, SANDBOX_API_URL: service.url, SANDBOX_API_KEY: service.apiKey };
  return spawn(bin, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
}

async function digestOf(stream: Readable): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of stream) hash.update(chunk);
  return hash.digest('hex');
}

function digestOfText(): string {
  const hash = createHash('sha256');
  let left = BYTES;
  for (let number = 1; left > 0; ) {
    let lines = '';
    while (lines.length < 65_536) lines += `${number++}\n`;
    hash.update(lines.slice(0, left));
    left -= lines.length;
  }
  return hash.digest('hex');
}

function digestOfBinary(): string {
  const hash = createHash('sha256');
  const cipher = createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16));
  for (let left = BYTES; left > 0; left -= 65_536)
    hash.update(cipher.update(Buffer.alloc(Math.min(left, 65_536))));
  return hash.digest('hex');
}

describe('sandhaven exec', () => {
  it.each([
    ['text', TEXT, digestOfText],
    ['binary', BINARY, digestOfBinary],
  ])(
    'prints all bytes of %s',
    { timeout: TIMES * (60_000 + BYTES / 2_000) },
    async (_, command, expected) => {
      for (let time = 0; time < TIMES; time++) {
        const ran = cli('exec', 'sb', '--timeout', '600', '--', `${command}; exit 3`);
        const [stdout, stderr, [code]] = await Promise.all([
          digestOf(ran.stdout),
          buffer(ran.stderr),
          once(ran, 'close'),
        ]);
        expect([stdout, stderr.toString(), code]).toEqual([expected(), '', 3]);
      }
    },
  );

  it('prints each stream on its own, both at once', { timeout: 60_000 + BYTES / 1_000 }, async () => {
    const ran = cli('exec', 'sb', '--timeout', '600', '--', `(${BINARY}) >&2 & ${TEXT}; wait`);
    const digests = await Promise.all([digestOf(ran.stdout), digestOf(ran.stderr), once(ran, 'close')]);
    expect(digests).toEqual([digestOfText(), digestOfBinary(), [0, null]]);
  });
});

/** Prints 30 MB, and writes how much of it was taken into a file. */
const PRINTING = `python3 -c "
import os
for mebibyte in range(30):
    os.write(1, b'x' * 1000000)
    open('/tmp/printed', 'w').write(str(mebibyte + 1))
"`;

async function outcomeOf(command: string): Promise<string> {
  return (await client.runCommand({ command })).stdout.trim();
}

/** A call whose output nobody reads yet. */
async function unread(more: object = {}) {
  const abort = new AbortController();
  const response = await fetch(`${service.url}/v1/tools/Sandbox.RunCommand?output=bytes`, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json' },
      accept: 'text/event-stream',
    },
    body: JSON.stringify({ command: PRINTING, ...more }),
    signal: abort.signal,
  });
  return { response, abort };
}

/** Resolves when the program has come no further for half a second. */
async function heldUp(): Promise<number> {
  let last = '';
  await expect
    .poll(
      async () => {
        const before = last;
        last = await outcomeOf('cat /tmp/printed');
        return last !== '' && last === before;
      },
      { timeout: 30_000, interval: 500 },
    )
    .toBe(true);
  return Number(last);
}

const running = () => outcomeOf("pgrep -fc '[m]ebibyte' || true");

async function eventsOf(response: Response) {
  const found = (await response.text()).matchAll(/^event: (\w+)\ndata: (.*)$/gm);
  return [...found].map(([, event, data = '']) => ({ event, data: JSON.parse(data) }));
}

describe('a program whose reader reads nothing', { timeout: 120_000 }, () => {
  it('waits, while all others go on, and goes on without a loss when it is read', async () => {
    const { response } = await unread();
    expect(await heldUp()).toBeLessThan(30);
    const before = performance.now();
    await client.whoAmI({});
    expect(await outcomeOf('echo others')).toBe('others');
    expect(performance.now() - before).toBeLessThan(2_000);
    const events = await eventsOf(response);
    const output = events.filter(({ event }) => event === 'output').map(({ data }) => data);
    const bytes = Buffer.concat(output.map(({ base64 }) => Buffer.from(base64, 'base64')));
    expect(bytes.equals(Buffer.alloc(30_000_000, 'x'))).toBe(true);
    expect(output.filter((piece) => 'left_out_bytes' in piece)).toEqual([]);
    expect(events.at(-1)).toMatchObject({ event: 'result', data: { exit_code: 0, truncated: true } });
  });

  it('is killed at its timeout', async () => {
    await outcomeOf('rm /tmp/printed');
    const { response } = await unread({ timeout_seconds: 5 });
    expect(await heldUp()).toBeLessThan(30);
    await expect.poll(running, { timeout: 30_000 }).toBe('0');
    const [result] = (await eventsOf(response)).slice(-1);
    expect(result).toMatchObject({ event: 'result', data: { exit_code: 124, timed_out: true } });
  });

  it('ends when its reader leaves', async () => {
    await outcomeOf('rm -f /tmp/printed');
    const { abort } = await unread();
    expect(await heldUp()).toBeLessThan(30);
    expect(await running()).not.toBe('0');
    abort.abort();
    await expect.poll(running, { timeout: 30_000 }).toBe('0');
  });
});

describe('sandhaven logs', () => {
  it('prints the bytes of a session, and tells on standard error what the log has lost', async () => {
    await client.runSessionCommand({ session_id: 's', command: "printf '\\377\\342'; printf '\\202\\000z'" });
    const binary = cli('logs', 'sb', 's');
    expect(await buffer(binary.stdout)).toEqual(Buffer.from([0xff, 0xe2, 0x82, 0x00, 0x7a]));
    await client.runSessionCommand({ session_id: 's', command: 'seq 1 700000' });
    const long = cli('logs', 'sb', 's');
    const [stdout, stderr] = await Promise.all([buffer(long.stdout), buffer(long.stderr)]);
    const [missing = ''] = /^\d+(?= bytes of the output are missing)/.exec(stderr.toString()) ?? [];
    expect(stdout.length + Number(missing)).toBe(4_788_895);
    expect(stdout.toString()).toMatch(/^1\n2\n[\d\n]*\n699999\n700000\n$/);
  });
});
