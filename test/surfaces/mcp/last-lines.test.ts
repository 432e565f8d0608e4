/** Output of a running program in progress notifications: its last lines, for a client that asked. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { LiveOutput } from '../../../src/control/ports/index.ts';
import { LastLines } from '../../../src/surfaces/mcp/progress.ts';
import { showing } from '../fakes/showing.ts';
import { McpHost, revisions } from './mcp-host.ts';

describe('the last lines', () => {
  let passed: string[];
  let lines: LastLines;
  beforeEach(() => {
    vi.useFakeTimers();
    passed = [];
    lines = new LastLines((text) => passed.push(text));
  });
  afterEach(() => {
    lines.end();
    vi.useRealTimers();
  });
  const print = (text: string) => lines.show({ stream: 'stdout', bytes: Buffer.from(text), leftOutBytes: 0 });

  it('are passed on once a second at most, and only when more was printed', () => {
    for (let turn = 0; turn < 50; turn++) {
      print(`${turn}\n`);
      vi.advanceTimersByTime(100);
    }
    expect(passed).toHaveLength(5);
    expect(passed[0]).toBe('0\n1\n2\n3\n4\n5\n6\n7\n8\n9');
    vi.advanceTimersByTime(60_000);
    expect(passed).toHaveLength(5);
    expect(passed.at(-1)).toBe('40\n41\n42\n43\n44\n45\n46\n47\n48\n49');
  });

  it('have a bound of characters, none of them broken', () => {
    print(`a${'😀'.repeat(100_000)}b`);
    vi.advanceTimersByTime(1_000);
    expect(passed[0]?.length).toBeLessThanOrEqual(2_000);
    expect(passed[0]?.isWellFormed()).toBe(true);
  });

  it('have the line that is not ended yet', () => {
    print('done\n50');
    print(' %');
    vi.advanceTimersByTime(1_000);
    expect(passed).toEqual(['done\n50 %']);
  });

  it('are silent for blank output, and after the end', () => {
    print('\n\n');
    vi.advanceTimersByTime(5_000);
    print('late');
    lines.end();
    vi.advanceTimersByTime(5_000);
    expect(passed).toEqual([]);
  });
});

describe.each(revisions)('MCP over HTTP, revision %s', (revision) => {
  let host: McpHost;
  beforeEach(async () => {
    host = new McpHost();
    await host.listen();
  });
  afterEach(() => host.close());
  const call = { name: 'Sandbox_RunCommand', arguments: { command: 'make' } };

  it('sends them to a client with a progress token, and slows no program down', async () => {
    const seen: (string | undefined)[] = [];
    showing(host.fakes.services, 'all\n', async (live) => {
      expect(live?.whole).toBe(false);
      live?.show({ stream: 'stdout', bytes: Buffer.from('compiling\n'), leftOutBytes: 0 });
      live?.show({ stream: 'stderr', bytes: Buffer.from('a warning\n'), leftOutBytes: 0 });
      await expect.poll(() => seen.length, { timeout: 5_000 }).toBe(1);
    });
    const client = await host.connect(revision);
    const result = await client.callTool(call, { onprogress: ({ message }) => seen.push(message) });
    expect(seen).toEqual(['compiling\na warning']);
    expect(result.structuredContent).toMatchObject({ output: 'all\n' });
  });

  it('asks for none where nobody wants them', async () => {
    let given: LiveOutput | undefined;
    showing(host.fakes.services, 'all\n', async (live) => {
      given = live;
      await sleep(1);
    });
    const client = await host.connect(revision);
    expect((await client.callTool(call)).structuredContent).toMatchObject({ output: 'all\n' });
    expect(given).toBeUndefined();
  });
});
