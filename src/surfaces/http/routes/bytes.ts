/** PUT, GET and HEAD /v1/sandboxes/{sandbox}/files: streams the bytes of a file unchanged. */
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { withoutUndefined } from '../../../catalog/base/tool.ts';
import { asUser, sandbox } from '../../../catalog/parameters/sandbox.ts';
import { fileMode, path } from '../../../catalog/parameters/scalars.ts';
import { validateInput } from '../../../catalog/validate.ts';
import type { Services } from '../../../control/services.ts';
import { auditActions } from '../../../model/audit.ts';
import { invalidArgument, toProblem } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { assertScope } from '../../../model/scopes.ts';
import { subjectOf } from '../base/origin.ts';
import { sendProblem } from '../base/problem.ts';
import { clientSignal, sendBytes } from './send.ts';

const target = z.strictObject({ sandbox, path: path(), user: asUser });
const upload = target.extend({
  mode: fileMode().optional(),
  create_parents: z.enum(['true', 'false']).default('true'),
  durable: z.enum(['true', 'false']).default('false'),
});

/** `app` must leave request bodies unread. */
export function addByteRoutes(app: FastifyInstance, services: Pick<Services, 'files' | 'audit'>): void {
  const url = '/v1/sandboxes/:sandbox/files';
  const config = { byteStream: true, sandboxTokens: true };

  app.put(url, { config }, (request, reply) => {
    const signal = clientSignal(reply);
    const subject = subjectOf(request, auditActions.upload, signal);
    return services.audit.call(subject, async () => {
      assertScope(request.caller, 'sandboxes:write');
      return receive(services.files, request, signal);
    });
  });

  app.route({
    method: ['GET', 'HEAD'],
    url,
    config,
    handler: (request, reply) => {
      const signal = clientSignal(reply);
      const action = request.method === 'HEAD' ? auditActions.head : auditActions.download;
      return services.audit.call(
        subjectOf(request, action, signal),
        async () => {
          assertScope(request.caller, 'sandboxes:read');
          return send(services.files, request, reply, signal);
        },
        // After the status is sent, only the end of the connection reports a failure.
        () => request.outcome ?? (signal.aborted ? 'cancelled' : null),
      );
    },
  });
}

async function receive(files: Services['files'], request: FastifyRequest, signal: AbortSignal) {
  const { sandbox, path, user, mode, create_parents, durable } = parametersOf(upload, request);
  request.raw.socket.setTimeout(limits.byteStreamIdleMs);
  const query = {
    path,
    user,
    content: request.raw,
    createParents: create_parents === 'true',
    durable: durable === 'true',
    ...withoutUndefined({ mode: mode === undefined ? undefined : Number.parseInt(mode, 8) }),
  };
  const written = await files.write(request.caller, sandbox, query, signal);
  return { path, bytes_written: written.bytesWritten, created: written.created };
}

async function send(
  files: Services['files'],
  request: FastifyRequest,
  reply: FastifyReply,
  signal: AbortSignal,
): Promise<FastifyReply> {
  const { sandbox, path, user } = parametersOf(target, request);
  const open = (bytes: { start?: number; end?: number }) =>
    files.readStream(request.caller, sandbox, { path, user, ...bytes }, signal);
  if (request.method === 'HEAD') return sendHead(reply, await sizeBy(open));
  // No validators exist, so no If-Range can match.
  const range = request.headers['if-range'] === undefined ? parseRange(request.headers.range) : null;
  request.raw.socket.setTimeout(limits.byteStreamIdleMs);
  return range === null ? sendAll(reply, open, signal) : sendRange(reply, open, range, signal);
}

type Open = (bytes: { start?: number; end?: number }) => Promise<{ size: number; stream: Readable }>;

async function sendAll(reply: FastifyReply, open: Open, signal: AbortSignal): Promise<FastifyReply> {
  const { size, stream } = await open({});
  return sendBytes(reply, { status: 200, headers: headersOf(size), stream, length: size }, signal);
}

async function sendRange(
  reply: FastifyReply,
  open: Open,
  request: RangeRequest,
  signal: AbortSignal,
): Promise<FastifyReply> {
  const wanted = 'suffixLength' in request ? resolveRange(request, await sizeBy(open)) : request;
  if (wanted === null) return sendUnsatisfiable(reply, 0);
  const { size, stream } = await open(wanted);
  const range = resolveRange(wanted, size);
  if (range === null) {
    stream.destroy();
    return sendUnsatisfiable(reply, size);
  }
  const length = range.end - range.start + 1;
  const headers = { ...headersOf(length), 'content-range': `bytes ${range.start}-${range.end}/${size}` };
  return sendBytes(reply, { status: 206, headers, stream, length }, signal);
}

function sendHead(reply: FastifyReply, size: number): FastifyReply {
  reply.hijack();
  reply.raw.writeHead(200, headersOf(size)).end();
  return reply;
}

function sendUnsatisfiable(reply: FastifyReply, size: number): FastifyReply {
  const error = invalidArgument('Range', `The range is outside of the file, which has ${size} bytes.`);
  reply.request.outcome = error.code;
  reply.header('content-range', `bytes */${size}`);
  const problem = { ...toProblem(error, reply.request.id), status: 416, title: 'Range not satisfiable' };
  return sendProblem(reply, problem);
}

/** Returns the size of the file that a read would open: links are followed, unlike in GetFileInfo. */
async function sizeBy(open: Open): Promise<number> {
  const { size, stream } = await open({ start: 0, end: 0 });
  stream.destroy();
  return size;
}

/** Files of /proc report size 0 and have content all the same, so their length is left open. */
function headersOf(length: number): Record<string, string | number> {
  return {
    'content-type': 'application/octet-stream',
    'accept-ranges': 'bytes',
    ...(length > 0 ? { 'content-length': length } : {}),
  };
}

function parametersOf<T extends z.ZodObject>(schema: T, request: FastifyRequest): z.output<T> {
  return validateInput(schema, { ...(request.query as object), ...(request.params as object) });
}

/** Parses the Range header (RFC 9110, section 14): one range of bytes. Several, or another unit, count as none. */
type RangeRequest = { start: number; end: number } | { suffixLength: number };

interface ByteRange {
  start: number;
  /** Inclusive. */
  end: number;
}

/** Returns null for an absent, invalid or unsupported header: all bytes are then sent. */
export function parseRange(header: string | undefined): RangeRequest | null {
  const match = header === undefined ? null : /^bytes=\s*(\d*)\s*-\s*(\d*)\s*$/i.exec(header);
  if (!match) return null;
  const [, first = '', last = ''] = match;
  if (first === '') return last === '' ? null : { suffixLength: clamp(last) };
  const start = clamp(first);
  const end = last === '' ? Number.MAX_SAFE_INTEGER : clamp(last);
  return end < start ? null : { start, end };
}

/** Returns null when the file has no such bytes (416). */
export function resolveRange(range: RangeRequest, size: number): ByteRange | null {
  if ('suffixLength' in range) {
    if (range.suffixLength === 0 || size === 0) return null;
    return { start: Math.max(0, size - range.suffixLength), end: size - 1 };
  }
  return range.start >= size ? null : { start: range.start, end: Math.min(range.end, size - 1) };
}

function clamp(digits: string): number {
  return Math.min(Number(digits), Number.MAX_SAFE_INTEGER);
}
