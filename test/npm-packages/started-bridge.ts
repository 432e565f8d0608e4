/** The bridge of `@sandhaven/mcp` as a process of its own, from its source, with an official client or by hand. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createClient } from '../surfaces/mcp/mcp-host.ts';

export const bridge = join(import.meta.dirname, '..', '..', 'packages', 'mcp', 'src', 'main.ts');
const PATH = process.env['PATH'] ?? '';

/** Connects a client that speaks exactly this revision; `stderr` receives what the bridge prints there. */
export async function connectBridge(
  revision: string,
  env: Record<string, string>,
  { args = [], stderr = () => {} }: { args?: string[]; stderr?: (text: string) => void } = {},
): Promise<Client> {
  const client = createClient(revision);
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [bridge, ...args],
    env: { PATH, ...env },
    stderr: 'pipe',
  });
  transport.stderr?.on('data', (chunk) => stderr(String(chunk)));
  await client.connect(transport);
  return client;
}

export interface StartedBridge {
  child: ChildProcessWithoutNullStreams;
  /** Complete lines of standard output, and all of standard error. */
  lines(): string[];
  stderr(): string;
  send(...messages: unknown[]): void;
  /** Exit status, once it has ended. */
  exited: Promise<number | null>;
}

export function startBridge(args: string[], env: Record<string, string>): StartedBridge {
  const child = spawn(process.execPath, [bridge, ...args], { env: { PATH, ...env } });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  child.stdin.on('error', () => {});
  return {
    child,
    lines: () => out.split('\n').slice(0, -1),
    stderr: () => err,
    send(...messages) {
      for (const message of messages) child.stdin.write(`${JSON.stringify(message)}\n`);
    },
    exited: new Promise((resolve) => child.once('close', (status) => resolve(status))),
  };
}
