/**
 * Services in memory, of which only what the MCP tests call is there, and what they were asked to do. One
 * tool stands for each kind of call: short, long with progress, cancellable, not cancellable, failing, with
 * pictures, with a large result.
 */
import type { Log, OnProgress } from '../../../src/control/ports/index.ts';
import type { Services } from '../../../src/control/services.ts';
import { notFound } from '../../../src/model/errors.ts';
import type { Sandbox } from '../../../src/model/sandbox.ts';
import type { Caller } from '../../../src/model/user.ts';
import { sandboxRecord } from '../../store/fixtures.ts';
import { fakeAudit } from '../fakes/fake-audit.ts';
import { fakeMetrics } from '../fakes/fake-metrics.ts';

export const caller: Caller = {
  id: 'user_1',
  name: 'Ada',
  email: 'ada@example.org',
  role: 'member',
  keyId: 'key_1',
  keyExpiresAt: null,
  scopes: null,
};
export const apiKey = 'shv_test';
export const largeContent = 'x'.repeat(1_000_000);

export interface Fakes {
  services: Services;
  log: Log;
  logged: unknown[];
  /** Messages of level error. */
  errors: string[];
  /** Commands that were begun, and those whose signal was aborted. */
  begun: string[];
  aborted: string[];
  /** Lifecycle operations that came to their end. */
  settled: string[];
  /** Whether a create that has told how far it is waits, too. */
  holdsCreate: boolean;
  /** Ends the operations that wait now: a stop always does. */
  release(): void;
}

export function createFakes(): Fakes {
  const logged: unknown[] = [];
  const write = (message: string, context?: unknown) => logged.push({ message, context });
  const errors: string[] = [];
  const error = (message: string, context?: unknown) => {
    errors.push(message);
    write(message, context);
  };
  let gate = Promise.withResolvers<void>();
  const fakes: Fakes = {
    services: {} as Services,
    log: { info: write, warn: write, error },
    ...{ logged, errors },
    begun: [],
    aborted: [],
    settled: [],
    holdsCreate: false,
    release() {
      gate.resolve();
      gate = Promise.withResolvers<void>();
    },
  };
  const { audit } = fakeAudit();
  fakes.services = {
    audit,
    metrics: fakeMetrics(audit),
    identity: {
      authenticate: async (key: string) => (key === apiKey ? caller : null),
      whileValid: () => () => {},
      count: () => {},
    },
    teams: { acting: async (given: Caller) => given },
    apps: { authenticate: async () => null },
    sandboxes: {
      async create(_caller: unknown, request: { name?: string }, options: { onProgress: OnProgress }) {
        options.onProgress({ message: 'Pulling the image', done: 10, total: 20 });
        options.onProgress({ message: 'Starting', done: 1, total: 2 });
        options.onProgress({ message: 'Started' });
        if (fakes.holdsCreate) await gate.promise;
        return sandbox(request.name ?? 'brave-otter-7');
      },
      async get(_caller: unknown, name: string) {
        throw notFound('sandbox', `There is no sandbox '${name}'.`, 'Call Sandbox.ListSandboxes.');
      },
      async stop(_caller: unknown, name: string) {
        fakes.begun.push(`stop ${name}`);
        await gate.promise;
        fakes.settled.push(`stop ${name}`);
        return { sandbox: { ...sandbox(name), state: 'stopped' }, deleted: false };
      },
    },
    execution: {
      runCommand(_caller: unknown, _sandbox: unknown, request: { command: string }, signal: AbortSignal) {
        fakes.begun.push(request.command);
        if (request.command !== 'sleep') return Promise.resolve(execResult(`ran ${request.command}\n`));
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            fakes.aborted.push(request.command);
            reject(new Error('aborted'));
          });
        });
      },
      async runCode(_caller: unknown, _sandbox: unknown, { code }: { code: string }) {
        if (code === 'defect') throw new Error('connection string mongodb://root:hunter2@db');
        return { ...execResult('plotted\n'), charts: [chart] };
      },
    },
    files: {
      async read() {
        const content = Buffer.from(largeContent);
        return { content, size: content.length, totalLines: 1, startLine: 1, endLine: 1 };
      },
    },
  } as unknown as Services;
  return fakes;
}

const chart = {
  type: 'line',
  title: 'Growth',
  x_label: null,
  y_label: null,
  x_scale: 'linear',
  y_scale: 'linear',
  elements: [],
  png: 'iVBORw0KGgo=',
};

function execResult(stdout: string) {
  return {
    output: stdout,
    stdout,
    stderr: '',
    exitCode: 0,
    timedOut: false,
    truncated: false,
    durationMs: 1,
  };
}

const sandbox = (name: string): Sandbox =>
  sandboxRecord({
    ...{ id: 'sb_0123456789abcdef', ownerId: caller.id, name },
    ...{ createdAt: 0, updatedAt: 0, lastActivityAt: 0, startedAt: 0 },
  });
