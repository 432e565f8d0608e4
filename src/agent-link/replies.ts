/** Schemas and bounds of an agent's replies, and its errors. Any other reply violates the protocol. */
import { z } from 'zod';
import { type ErrorFields, SandhavenError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { errorBounds, ProtocolError, parseJson } from './frames.ts';

/**
 * Schema of an array with at most `most` elements. Stops at the first fault: zod's own array collects an issue for
 * each, and an agent could cause a million of them.
 */
export function rows<T>(element: z.ZodType<T>, most: number) {
  return z
    .custom<unknown[]>(
      (value) => Array.isArray(value) && value.length <= most,
      `must be a list of at most ${most}`,
    )
    .transform((values, context): T[] => {
      const parsed: T[] = [];
      for (const value of values) {
        const one = element.safeParse(value);
        if (!one.success) {
          context.issues.push({ code: 'custom', message: faultIn(one.error), input: values });
          return z.NEVER;
        }
        parsed.push(one.data);
      }
      return parsed;
    });
}

const count = z.int().min(0);
/** Name or path as text: at most three characters per byte. */
const name = z.string().min(1).max(1_024);
const path = z
  .string()
  .min(1)
  .max(3 * (limits.pathBytes + 1));

export const helloReply = z.object({
  version: z.int(),
  sandbox_id: z.string().max(64),
  generation: z.int(),
  persistence: z.enum(['root', 'folders']).optional(),
});

export const emptyReply = z.object({});

export const execReply = execReplyOf(limits.outputBytes);

/** Reply of a command whose streams were requested up to `maxBytes`. */
export function execReplyOf(maxBytes: number) {
  // Includes the marker between the halves.
  const stream = count.max(maxBytes + 256);
  return z.object({
    exit_code: z.int().min(0).max(255),
    timed_out: z.boolean(),
    truncated: z.boolean(),
    duration_ms: count,
    stdout_bytes: stream,
    stderr_bytes: stream,
    output_bytes: stream,
  });
}

const chartText = z.string().max(limits.chartDataBytes).nullable();

export const chartItem = z.object({
  type: z.enum(['line', 'scatter', 'bar', 'pie', 'box', 'composite', 'unknown']),
  title: chartText,
  x_label: chartText,
  y_label: chartText,
  x_scale: chartText,
  y_scale: chartText,
  // Not validated: user code made them.
  elements: z.custom<unknown[]>(Array.isArray),
  total_elements: count.optional(),
});

export const fileEntries = rows(
  z.object({ name, type: z.enum(['file', 'dir']), size: count, link: z.boolean() }),
  limits.maxItems.max,
);

export const foundPaths = rows(path, limits.maxItems.max);

export const listReply = z.object({ total_count: count });
export const entriesReply = listReply.extend({ next_offset: count.nullable() });

export const statReply = z.object({
  type: z.enum(['file', 'dir', 'symlink', 'other']),
  size: count,
  mode: z.int().min(0).max(0o7777),
  owner: z.string().min(1).max(64),
  group: z.string().min(1).max(64),
  modified_ms: z.int().min(-8.64e15).max(8.64e15),
});

const userId = z
  .int()
  .min(0)
  .max(2 ** 32 - 1);
const { bytes: metadataBytes, nameBytes } = limits.fileMetadata;

export const detailedEntries = rows(
  statReply.extend({
    // Empty for the path that was asked for.
    path: z.string().max(3 * (limits.pathBytes + 1)),
    uid: userId,
    gid: userId,
    target: path.optional(),
    metadata: z.record(z.string().max(3 * nameBytes), z.string().max(3 * metadataBytes)).optional(),
  }),
  limits.fileDetails.maxItems.max,
);

export const readReply = z.object({
  size: count,
  total_lines: count,
  start_line: count,
  end_line: count,
  bytes: count.max(limits.fileContentBytes),
});

export const streamReply = z.object({ size: count, bytes: count });

export const writeReply = z.object({ bytes_written: count, created: z.boolean() });

export const createdReply = z.object({ created: z.boolean() });

const port = z.int().min(1).max(65_535);

export const listenReply = z.object({ listener: count, port });

export const connectionItem = z.object({ connection: count });

/**
 * Process names of the kernel have at most fifteen bytes; invalid UTF-8 comes with replacements. An agent of an earlier
 * service sends no pid and no command. A character of a command is at most two units of a string.
 */
export const portsReply = z.object({
  ports: rows(
    z.object({
      port,
      name: z.string().max(64),
      pid: z.int().min(1).max(limits.listeningPort.pid).nullish(),
      command: z
        .string()
        .max(2 * limits.listeningPort.commandChars)
        .nullish(),
    }),
    65_535,
  ),
});

export const milliseconds = z.int().min(0).max(8.64e15);
/** Bytes of a program's output; no sandbox prints this much. */
export const printedBytes = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

const cells = z.int().min(0).max(limits.process.terminalSize);
export const terminalSize = z.object({ columns: cells, rows: cells });

export const namedStream = z.object({ stream: z.enum(['stdout', 'stderr']) });
export const takenInput = z.object({ taken: z.int().min(1).max(limits.process.inputWindowBytes) });
export const processEnd = z.object({
  exit_code: z.int().min(0).max(255),
  signal: z
    .string()
    .regex(/^SIG[A-Z0-9+]{2,12}$/)
    .nullable(),
});

export const processItem = z.union([namedStream, takenInput, processEnd]);

export function parseReply<T>(schema: z.ZodType<T>, json: unknown): T {
  const parsed = schema.safeParse(json);
  if (!parsed.success) throw new ProtocolError(`an unexpected reply: ${faultIn(parsed.error)}`);
  return parsed.data;
}

/** Describes the first fault briefly: an agent's own text must not reach a log. */
function faultIn({ issues }: z.ZodError): string {
  const [first] = issues;
  return `${first?.path.join('.') ?? ''} ${first?.message ?? ''}`.slice(0, limits.agentBreachChars);
}

const MAX_TEXT_CHARS = 2_000;

const word = z.string().regex(/^[a-z_]{1,40}$/);

const faultSchema = z.object({
  /** Without `unavailable` and the service's own codes, which an agent may not send. */
  code: z.enum([
    'invalid_argument',
    'not_found',
    'already_exists',
    'permission_denied',
    'failed_precondition',
    'too_large',
    'resource_exhausted',
    'timeout',
    'internal',
  ]),
  detail: z.string(),
  hint: z.string().optional(),
  parameter: word.optional(),
  resource: word.optional(),
});

/** Refusals of agents that were started before an upgrade, in their words, and what these agents lack. */
const refusals = [
  { words: 'unknown variant `terminal_', lack: 'has no terminals' },
  { words: 'unknown variant `process_', lack: 'has no processes that go on without their caller' },
  { words: 'unknown field `user`', lack: 'does all work as root' },
  { words: 'unknown variant `session_delete`', lack: 'cannot delete sessions' },
  { words: 'unknown variant `entries`', lack: 'has no details of files' },
  { words: 'unknown variant `set_attributes`', lack: 'cannot change attributes of files' },
  { words: 'unknown variant `watch_files`', lack: 'cannot watch files' },
  { words: 'unknown field `metadata`', lack: 'writes files without metadata' },
].map(({ words, lack }) => ({ begin: `The request breaks the agent protocol: ${words}`, lack }));

/**
 * Maps an agent's error to the caller's. An agent is hostile: codes are allow-listed, texts bounded.
 * @param payload Payload of an error frame.
 */
export function faultOf(payload: Buffer): SandhavenError {
  const parsed = faultSchema.safeParse(parseJson(payload, errorBounds));
  if (!parsed.success) throw new ProtocolError('an error without a known code');
  const { code, detail, hint, parameter, resource } = parsed.data;
  const refusal = refusals.find(({ begin }) => code === 'invalid_argument' && detail.startsWith(begin));
  if (refusal) return tooOld(refusal.lack);
  const fields: ErrorFields = {};
  if (hint !== undefined) fields.hint = tidy(hint);
  if (parameter !== undefined) fields.parameter = parameter;
  if (resource !== undefined) fields.resource = resource;
  return new SandhavenError(code, tidy(detail), fields);
}

export function unavailable(detail: string, cause?: unknown): SandhavenError {
  return new SandhavenError(
    'unavailable',
    detail,
    { hint: 'Try again; if it stays, stop and start the sandbox.' },
    cause,
  );
}

function tooOld(lack: string): SandhavenError {
  return new SandhavenError(
    'failed_precondition',
    `The sandbox was started by an earlier version, whose agent ${lack}.`,
    { resource: 'agent', hint: 'Stop and start the sandbox; what runs in it ends then.' },
  );
}

/** Reduces a text to one line of bounded length. */
function tidy(text: string): string {
  const line = text.slice(0, MAX_TEXT_CHARS).replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, '\u{FFFD}');
  return text.length > MAX_TEXT_CHARS ? `${line}…` : line;
}
