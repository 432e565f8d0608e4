/** Downloads: the bytes of one file, or a multipart form with those of many, file after file. */
import type { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { sandbox } from '../../../../catalog/parameters/sandbox.ts';
import { path } from '../../../../catalog/parameters/scalars.ts';
import { validateInput } from '../../../../catalog/validate.ts';
import { SandhavenError } from '../../../../model/errors.ts';
import { sendBytes } from '../../../http/routes/send.ts';
import { MultipartWriter } from '../../../multipart.ts';
import type { DaytonaCall } from '../../base/call.ts';
import type { Coded } from '../../base/errors.ts';
import { readsMarks } from '../../base/generation.ts';
import { fileCode } from '../codes.ts';

const one = z.object({ sandbox, path: path() });

export async function download(call: DaytonaCall): Promise<unknown> {
  const { sandbox, path } = validateInput(one, { ...call.query, ...call.params });
  return sendFile(call.reply, await open(call, sandbox, path), call.signal);
}

export function sendFile(
  reply: FastifyReply,
  { size, stream }: Opened,
  signal: AbortSignal,
): Promise<FastifyReply> {
  const headers = {
    'content-type': 'application/octet-stream',
    // Files of /proc report size 0 and have content all the same.
    ...(size > 0 ? { 'content-length': size } : {}),
  };
  return sendBytes(reply, { status: 200, headers, stream, length: size }, signal);
}

/** A path need not be valid: it is then the one that is answered with an error. */
const many = z.object({ sandbox, paths: z.array(z.string()).min(1) });

export async function downloadMany(call: DaytonaCall): Promise<unknown> {
  const { sandbox, paths } = validateInput(many, { ...call.body, ...call.params });
  const read = (path: string) => open(call, sandbox, path).catch(refusedOf);
  const [first = '', ...others] = paths;
  // A fault of the whole sandbox shows here, and is the answer.
  const opened = await read(first);
  const { raw } = call.reply.hijack();
  const form = new MultipartWriter(raw, call.signal);
  raw.writeHead(200, { 'content-type': form.type });
  try {
    await send(form, first, opened, call);
    for (const path of others) await send(form, path, await read(path), call);
    await form.end();
    raw.end();
  } catch (error) {
    // The end of the connection alone reports a failure now, and the audit log.
    raw.destroy();
    throw error;
  }
  return call.reply;
}

type Opened = { size: number; stream: Readable };

function open({ request, services, signal }: DaytonaCall, sandbox: string, path: string): Promise<Opened> {
  return services.files.readStream(request.caller, sandbox, { path }, signal);
}

type Refused = Coded & Pick<SandhavenError, 'message'>;

function refusedOf(error: unknown): Refused {
  const coded = error instanceof SandhavenError && fileCode(error);
  if (coded) return { ...coded, message: error.message };
  throw error;
}

/** The part is named as the file was asked for: so clients tell the parts apart. Old ones show an error as it is. */
async function send(
  form: MultipartWriter,
  path: string,
  opened: Opened | Refused,
  { request }: DaytonaCall,
): Promise<void> {
  if ('stream' in opened) {
    const length = opened.size > 0 ? { length: opened.size } : {};
    const head = { name: 'file', filename: path, type: 'application/octet-stream', ...length };
    return form.part(head, opened.stream);
  }
  const { status: statusCode, code, message } = opened;
  const [type, text] = readsMarks(request)
    ? ['text/plain; charset=utf-8', message]
    : ['application/json', JSON.stringify({ statusCode, code, message, source: 'DAYTONA_DAEMON' })];
  const body = Buffer.from(text);
  return form.part({ name: 'error', filename: path, type, length: body.length }, [body]);
}
