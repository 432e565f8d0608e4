/** Output of real programs while they run. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Sandhaven } from '../../../sdk/src/index.ts';
import { inPart } from '../../deep/parts.ts';
import { must, type Service, startService } from '../../support/service.ts';

/** Of a program that prints without end; more than all buffers on the way hold, and longer than the calls beside it are timed. */
const FLOOD = inPart('output') ? { bytes: 200_000_000, seconds: 10 } : { bytes: 60_000_000, seconds: 4 };

let service: Service;
let client: Sandhaven;

beforeAll(async () => {
  service = await startService();
  client = new Sandhaven({ url: service.url, apiKey: service.apiKey });
  await must(service, 'CreateSandbox', { memory_gb: 1, disk_gb: 1 });
  await must(service, 'CreateSession', { session_id: 's' });
}, 120_000);

afterAll(() => service?.stop());

/** What was shown of a call's streams, and when each line of it came. */
function audience() {
  const begun = performance.now();
  const seen = { stdout: '', stderr: '', leftOutBytes: 0, atMs: [] as number[] };
  const take = (stream: 'stdout' | 'stderr') => (text: string, leftOutBytes: number) => {
    seen[stream] += text;
    seen.leftOutBytes += leftOutBytes;
    seen.atMs.push(performance.now() - begun);
  };
  const sinceMs = () => performance.now() - begun;
  return { seen, sinceMs, options: { onStdout: take('stdout'), onStderr: take('stderr') } };
}

describe('output is shown while it is printed, and the result is whole', () => {
  it('by RunCommand', async () => {
    const { seen, sinceMs, options } = audience();
    const command = 'echo one; sleep 1; echo two >&2; sleep 1; echo é; exit 3';
    const result = await client.runCommand({ command }, options);
    expect(result).toMatchObject({
      stdout: 'one\né\n',
      stderr: 'two\n',
      output: 'one\ntwo\né\n',
      exit_code: 3,
    });
    expect(seen).toMatchObject({ stdout: 'one\né\n', stderr: 'two\n', leftOutBytes: 0 });
    expect(sinceMs() - (seen.atMs[0] ?? Infinity)).toBeGreaterThan(1_500);
    expect(sinceMs() - (seen.atMs[1] ?? Infinity)).toBeGreaterThan(700);
  });

  it('by RunCode', async () => {
    const { seen, sinceMs, options } = audience();
    const code = 'import time, sys\nprint("one")\ntime.sleep(1)\nprint("two", file=sys.stderr)';
    const result = await client.runCode({ code }, options);
    expect(result).toMatchObject({ stdout: 'one\n', stderr: 'two\n', exit_code: 0, charts: [] });
    expect(seen).toMatchObject({ stdout: 'one\n', stderr: 'two\n', leftOutBytes: 0 });
    expect(sinceMs() - (seen.atMs[0] ?? Infinity)).toBeGreaterThan(700);
  });

  it('by RunSessionCommand, in one stream', async () => {
    const { seen, sinceMs, options } = audience();
    const command = 'for n in 1 2 3 4 5 6; do echo "é$n"; echo "e$n" >&2; sleep 0.4; done';
    const result = await client.runSessionCommand({ session_id: 's', command }, options);
    const all = 'é1\ne1\né2\ne2\né3\ne3\né4\ne4\né5\ne5\né6\ne6\n';
    expect(result).toMatchObject({ status: 'completed', exit_code: 0, output: all });
    expect(seen).toMatchObject({ stdout: all, stderr: '', leftOutBytes: 0 });
    expect(sinceMs() - (seen.atMs[0] ?? Infinity)).toBeGreaterThan(1_000);
  });

  it('with characters whole that are printed in halves', async () => {
    const { seen, options } = audience();
    await client.runCommand({ command: "printf '\\342'; sleep 0.3; printf '\\202\\254'" }, options);
    expect(seen).toMatchObject({ stdout: '€', leftOutBytes: 0 });
  });

  it('of a megabyte at once', async () => {
    const { seen, options } = audience();
    const command = 'seq 1 200000 | head -c 1000000';
    const { stdout, truncated } = await client.runCommand({ command }, options);
    expect(truncated).toBe(false);
    expect(seen.stdout === stdout).toBe(true);
    expect(seen.leftOutBytes).toBe(0);
  });
});

describe('a program that prints without end', () => {
  it('waits for no client that asks for text: one that reads nothing holds nothing up', {
    timeout: 120_000,
  }, async () => {
    const aborted = new AbortController();
    const response = await fetch(`${service.url}/v1/tools/Sandbox.RunCommand`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json' },
        accept: 'text/event-stream',
      },
      body: JSON.stringify({ command: `head -c ${FLOOD.bytes} /dev/zero | tr '\\0' x; touch /tmp/printed` }),
      signal: aborted.signal,
    });
    expect(response.status).toBe(200);
    const printed = async () => (await client.runCommand({ command: 'ls /tmp' })).stdout;
    await expect.poll(printed, { timeout: 60_000, interval: 500 }).toContain('printed');
    aborted.abort();
  });

  it('leaves other calls their time', { timeout: 120_000 }, async () => {
    // The host may be slow for all.
    const before = await longestCallMs(1_500);
    // All of it is more than a string can hold.
    const flood = client.runCommand({ command: `timeout ${FLOOD.seconds} yes` }, { onStdout() {} });
    const beside = await longestCallMs(3_000);
    const bound = (control: number) => Math.max(1_000, 5 * control);
    if (beside > bound(before))
      expect(beside).toBeLessThan(bound(await flood.then(() => longestCallMs(3_000))));
    expect(await flood).toMatchObject({ exit_code: 124 });
  });
});

/** Of calls that follow each other for so long. */
async function longestCallMs(ms: number): Promise<number> {
  let longest = 0;
  for (const begun = performance.now(); performance.now() - begun < ms; ) {
    const before = performance.now();
    await client.whoAmI({});
    longest = Math.max(longest, performance.now() - before);
    // Calls without a pause would be a flood of their own.
    await sleep(10);
  }
  return longest;
}
