/** Contexts: interpreters that outlive a connection; the agent owns them. What their code displays is hostile input. */
import { z } from 'zod';
import type { AgentContexts, ContextSummary, Display } from '../control/ports/index.ts';
import { limits } from '../model/limits.ts';
import { contextLanguages } from '../model/sandbox.ts';
import type { Answer, Ask, Item } from './call.ts';
import { deadline, livePart, type VersionOf } from './execution.ts';
import type { FrameBounds } from './frames.ts';
import { emptyReply, execReply, milliseconds, parseReply } from './replies.ts';

const { displays, displayDepth, errorNameChars, errorTextChars, endChars, mimeChars } = limits.context;

const createReply = z.object({ created_ms: milliseconds });
const end = z.string().max(endChars).nullable();
const memory = z.int().min(0).nullable();
const runs = z.int().min(0);

const listItem = z.object({
  context_id: z.string().max(limits.context.idChars),
  language: z.enum(contextLanguages),
  user: z.string().max(64).nullable(),
  cwd: z.string().max(3 * limits.pathBytes),
  memory_mb: memory,
  created_ms: milliseconds,
  runs,
  busy: z.boolean(),
  end,
});

const error = z.object({
  name: z.string().max(errorNameChars),
  value: z.string().max(errorTextChars),
  traceback: z.string().max(errorTextChars),
});

const runReply = execReply.omit({ exit_code: true }).extend({
  error: error.nullable(),
  exit_code: z.int().min(0).max(255).nullable(),
  end,
  left_out: runs,
  run: runs,
});

const display = z.object({
  display: z.object({
    type: z.enum(['result', 'display']),
    // Not validated: user code made them.
    data: z.record(z.string().max(mimeChars), z.unknown()),
    chart: z.record(z.string(), z.unknown()).optional(),
  }),
});

const displayBounds: FrameBounds = {
  bytes: limits.agentFrameBytes,
  nodes: limits.chartValues,
  keys: limits.chartValues,
  depth: displayDepth,
  leavesOut: true,
};

export function contextsOf(ask: Ask, versionOf: VersionOf): AgentContexts {
  return {
    createContext: (id, { user, contextId, language, cwd, env, memoryMb, replace }, signal) =>
      ask(
        id,
        {
          request: {
            ...{ op: 'context_create', user, context_id: contextId, language },
            ...{ cwd, env, memory_mb: memoryMb, replace },
          },
          timeoutMs: limits.context.startMs,
          reply: createReply,
          signal,
        },
        ({ reply }) => ({ createdAtMs: reply.created_ms }),
      ),

    listContexts: (id) =>
      ask(
        id,
        {
          request: { op: 'context_list' },
          timeoutMs: limits.helloTimeoutMs,
          reply: emptyReply,
          maxItems: limits.context.perSandbox,
        },
        ({ items }) => items.map(summary),
      ),

    runInContext: async (id, { contextId, code, env = {}, timeoutMs, live: wish }, signal) => {
      const { fields, live } = await livePart(versionOf, id, wish);
      return ask(
        id,
        {
          request: {
            ...{ op: 'context_run', context_id: contextId, timeout_ms: timeoutMs },
            ...(Object.keys(env).length > 0 ? { env } : {}),
            ...{ output_bytes: limits.outputBytes, ...fields },
          },
          upload: Buffer.from(code),
          ...{ signal, live, mixed: true, ...deadline(timeoutMs), reply: runReply },
          dataBytes: ({ stdout_bytes, stderr_bytes, output_bytes }) =>
            stdout_bytes + stderr_bytes + output_bytes,
          maxItems: displays,
          itemBounds: displayBounds,
          keepOfItem: (json) => {
            const shown = displayOf(json);
            if (shown) live?.display?.(shown);
            return shown;
          },
        },
        toResult,
      );
    },

    interruptContext: (id, contextId) =>
      ask(
        id,
        {
          request: { op: 'context_interrupt', context_id: contextId },
          timeoutMs: limits.helloTimeoutMs,
          reply: z.object({ busy: z.boolean() }),
        },
        ({ reply }) => reply.busy,
      ),

    deleteContext: (id, contextId, signal) =>
      ask(
        id,
        {
          request: { op: 'context_delete', context_id: contextId },
          timeoutMs: limits.context.startMs,
          reply: emptyReply,
          signal,
        },
        () => {},
      ),
  };
}

/** User code may show anything; what has no such form is left out. */
function displayOf(json: unknown): Display | null {
  const parsed = display.safeParse(json);
  return parsed.success ? parsed.data.display : null;
}

function toResult({ reply, items, data }: Answer<z.output<typeof runReply>>) {
  const { stdout_bytes, stderr_bytes, output_bytes } = reply;
  const text = (start: number, length: number) => data.toString('utf8', start, start + length);
  const shown = items.flatMap(({ json }) => (json === null ? [] : [json as Display]));
  return {
    stdout: text(0, stdout_bytes),
    stderr: text(stdout_bytes, stderr_bytes),
    output: text(stdout_bytes + stderr_bytes, output_bytes),
    displays: shown,
    leftOut: reply.left_out + items.length - shown.length,
    ...{ error: reply.error, exitCode: reply.exit_code, end: reply.end, run: reply.run },
    ...{ timedOut: reply.timed_out, truncated: reply.truncated, durationMs: reply.duration_ms },
  };
}

function summary({ json }: Item): ContextSummary {
  const item = parseReply(listItem, json);
  return {
    ...{ contextId: item.context_id, language: item.language, user: item.user, cwd: item.cwd },
    ...{ memoryMb: item.memory_mb, createdAtMs: item.created_ms, runs: item.runs, busy: item.busy },
    end: item.end,
  };
}
