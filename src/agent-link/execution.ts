/** Agent operations that run commands and code. */
import type { z } from 'zod';
import type { AgentLink, Chart, ExecBytes, ExecResult, LiveRequest } from '../control/ports/index.ts';
import { limits } from '../model/limits.ts';
import type { Answer, Ask, Item } from './call.ts';
import type { FrameBounds } from './frames.ts';
import { chartItem, emptyReply, execReply, execReplyOf, unavailable } from './replies.ts';
import { fieldVersions } from './request.ts';

type Execution = Pick<AgentLink, 'exec' | 'execBytes' | 'runCode' | 'startBackground'>;

const PNG_SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
const chartBounds: FrameBounds = {
  bytes: limits.agentFrameBytes,
  nodes: limits.chartValues,
  keys: limits.chartKeys,
  depth: limits.chartDepth + 1,
  leavesOut: true,
};

/** Asks the agent for the version that it speaks, unless that is known. */
export type VersionOf = (id: string, generation: number) => Promise<number>;

export function executionOf(ask: Ask, versionOf: VersionOf): Execution {
  const liveOf = (id: string, wish: LiveRequest | undefined) => livePart(versionOf, id, wish);
  return {
    exec: async (id, { user, argv, cwd, env, timeoutMs, live: wish }, signal) => {
      const { fields, live } = await liveOf(id, wish);
      return ask(
        id,
        {
          request: {
            op: 'exec',
            user,
            argv,
            cwd,
            env,
            timeout_ms: timeoutMs,
            output_bytes: limits.outputBytes,
            ...fields,
          },
          signal,
          live,
          ...deadline(timeoutMs),
          ...result,
        },
        execResult,
      );
    },
    execBytes: (id, { user, argv, cwd, env, timeoutMs, outputBytes }, signal) =>
      ask(
        id,
        {
          request: { op: 'exec', user, argv, cwd, env, timeout_ms: timeoutMs, output_bytes: outputBytes },
          signal,
          ...deadline(timeoutMs),
          ...result,
          reply: execReplyOf(outputBytes),
        },
        bytesResult,
      ),
    runCode: async (id, { user, language, code, env, timeoutMs, live: wish }, signal) => {
      const { fields, live } = await liveOf(id, wish);
      return ask(
        id,
        {
          request: {
            op: 'run_code',
            user,
            language,
            env,
            timeout_ms: timeoutMs,
            output_bytes: limits.outputBytes,
            max_charts: limits.charts,
            chart_bytes: limits.chartBytes,
            charts_total_bytes: limits.chartsTotalBytes,
            ...fields,
          },
          live,
          upload: Buffer.from(code),
          signal,
          ...deadline(timeoutMs),
          ...result,
          maxItems: limits.charts,
          itemBounds: chartBounds,
          keepOfItem: chartOf,
          maxItemDataBytes: limits.chartsTotalBytes,
        },
        (answer) => ({ ...execResult(answer), charts: answer.items.flatMap(withPicture) }),
      );
    },
    startBackground: (id, { user, argv, cwd, env }) =>
      ask(
        id,
        {
          request: { op: 'start_background', user, argv, cwd, env },
          timeoutMs: limits.helloTimeoutMs,
          reply: emptyReply,
        },
        () => {},
      ),
  };
}

interface LivePart {
  /** Fields of the request. */
  fields: object;
  live?: LiveRequest['output'];
}

/** Leaves live output out for an earlier agent, and for one that does not greet: the call itself will show why. */
export async function livePart(
  versionOf: VersionOf,
  id: string,
  wish: LiveRequest | undefined,
): Promise<LivePart> {
  if (!wish) return { fields: {} };
  const version = await versionOf(id, wish.generation).catch(() => 0);
  if (version < fieldVersions.live) return { fields: {} };
  const whole = wish.output.whole && version >= fieldVersions.whole;
  return { fields: { live: true, ...(whole ? { whole } : {}) }, live: wish.output };
}

export function deadline(timeoutMs: number): { timeoutMs: number; timeoutError: () => Error } {
  return {
    timeoutMs: timeoutMs + limits.execOverrunMs,
    timeoutError: () => unavailable("The sandbox's agent does not report the end of the command."),
  };
}

type Reply = z.output<typeof execReply>;

const result = {
  reply: execReply,
  dataBytes: (reply: Reply) => reply.stdout_bytes + reply.stderr_bytes + reply.output_bytes,
};

function execResult({ reply, data }: Answer<Reply>): ExecResult {
  const { stdout_bytes, stderr_bytes, output_bytes } = reply;
  const text = (start: number, length: number) => data.toString('utf8', start, start + length);
  return {
    stdout: text(0, stdout_bytes),
    stderr: text(stdout_bytes, stderr_bytes),
    output: text(stdout_bytes + stderr_bytes, output_bytes),
    exitCode: reply.exit_code,
    timedOut: reply.timed_out,
    truncated: reply.truncated,
    durationMs: reply.duration_ms,
  };
}

function bytesResult({ reply, data }: Answer<Reply>): ExecBytes {
  const { stdout_bytes, stderr_bytes } = reply;
  return {
    stdout: data.subarray(0, stdout_bytes),
    stderr: data.subarray(stdout_bytes, stdout_bytes + stderr_bytes),
    exitCode: reply.exit_code,
    timedOut: reply.timed_out,
  };
}

type BoundedChart = Omit<Chart, 'png'>;

/**
 * Parses one chart. User code may write anything in its place; anything else gives null and is left out. Drops elements
 * over the bound at once: the charts of a run stay in memory until its end.
 */
function chartOf(json: unknown): BoundedChart | null {
  const parsed = chartItem.safeParse(json);
  return parsed.success ? withBoundedElements(parsed.data) : null;
}

function withPicture({ json, bytes, data }: Item): Chart[] {
  const chart = json as BoundedChart | null;
  const png = Buffer.concat(data);
  if (
    !chart ||
    bytes > limits.chartDataBytes ||
    png.length > limits.chartBytes ||
    !png.subarray(0, PNG_SIGNATURE.length).equals(PNG_SIGNATURE)
  ) {
    return [];
  }
  return [{ ...chart, png: png.toString('base64') }];
}

/** Keeps the first elements of too many, with the number of all. */
function withBoundedElements<C extends { elements: unknown[]; total_elements?: number | undefined }>(
  all: C,
): Omit<C, 'total_elements'> & { total_elements?: number } {
  const { total_elements: reported, ...chart } = all;
  const elements = all.elements.slice(0, limits.chartElements);
  const total = Math.max(reported ?? 0, all.elements.length);
  return total > elements.length ? { ...chart, elements, total_elements: total } : { ...chart, elements };
}
