/** Uploads: multipart forms with one file or many, or the bytes of one; each goes to the sandbox as it comes. */
import { posix } from 'node:path';
import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { sandbox } from '../../../../catalog/parameters/sandbox.ts';
import { path } from '../../../../catalog/parameters/scalars.ts';
import { validateInput } from '../../../../catalog/validate.ts';
import { invalidArgument, SandhavenError } from '../../../../model/errors.ts';
import { limits } from '../../../../model/limits.ts';
import { boundaryOf, type Part, partsOf, textOf } from '../../../multipart.ts';
import type { DaytonaCall } from '../../base/call.ts';
import { fileCode } from '../codes.ts';

const one = z.object({ sandbox, path: path() });

/** Takes a form with the field `file`, or the bytes themselves. */
export async function upload(call: DaytonaCall): Promise<unknown> {
  const { path } = validateInput(one, { ...call.query, ...call.params });
  await takeFile(call.request, (content) => write(call, path, content));
  return { name: posix.basename(path), path, type: 'file' };
}

/** Hands over the bytes of the one file that a request brings. */
export async function takeFile(
  { headers, raw }: FastifyRequest,
  take: (content: Readable) => Promise<unknown>,
): Promise<void> {
  const boundary = boundaryOf(headers['content-type']);
  if (boundary === null) await take(raw);
  else await takeField(partsOf(raw, boundary), take);
}

/** Writes all files that can be written, and fails then for those that cannot. */
export async function uploadMany(call: DaytonaCall): Promise<unknown> {
  const files: { path: string; bytes: number }[] = [];
  let refused: SandhavenError | null = null;
  for await (const { path, part } of filesOf(call)) {
    try {
      files.push({ path, bytes: await takePart(part, (content) => write(call, path, content)) });
    } catch (error) {
      if (!(error instanceof SandhavenError) || fileCode(error) === null) throw error;
      refused ??= error;
    }
  }
  if (refused) throw refused;
  return { files, errors: [] };
}

/** Bytes of paths whose files have not come: some clients send all paths first. */
const WAITING_BYTES = 4 * 1024 * 1024;

async function takeField(
  parts: AsyncIterable<Part>,
  take: (content: Readable) => Promise<unknown>,
): Promise<void> {
  let isWritten = false;
  for await (const part of parts) {
    if (part.name !== 'file' || isWritten) continue;
    await takePart(part, take);
    isWritten = true;
  }
  if (!isWritten) throw invalidArgument('file', 'The form has no field file.');
}

/** Yields each file with its path: `files[i].path` comes before `files[i].file`. */
async function* filesOf({ request }: DaytonaCall): AsyncGenerator<{ path: string; part: Part }, void> {
  const boundary = boundaryOf(request.headers['content-type']);
  if (boundary === null)
    throw invalidArgument('Content-Type', 'The Content-Type must be multipart/form-data.');
  const waiting = new Map<string, string>();
  let waitingBytes = 0;
  for await (const part of partsOf(request.raw, boundary)) {
    const [, index = '', field] = /^files\[(\d{1,9})\]\.(path|file)$/.exec(part.name) ?? [];
    if (field === 'path') {
      const path = await textOf(part, limits.pathBytes);
      waiting.set(index, path);
      waitingBytes += path.length;
      if (waitingBytes > WAITING_BYTES) {
        throw new SandhavenError('too_large', 'The form has too many paths before their files.');
      }
    } else if (field === 'file') {
      const path = waiting.get(index);
      if (path === undefined) throw invalidArgument(part.name, `${part.name} comes before its path.`);
      waiting.delete(index);
      waitingBytes -= path.length;
      yield { path, part };
    }
  }
}

async function takePart<T>({ content }: Part, take: (content: Readable) => Promise<T>): Promise<T> {
  const stream = Readable.from(content);
  // A reader that has left, since the file could not be written, does not hear how the body ends.
  stream.on('error', () => {});
  try {
    return await take(stream);
  } finally {
    stream.destroy();
  }
}

async function write({ request, params, services, signal }: DaytonaCall, path: string, content: Readable) {
  const query = { path, content, createParents: true };
  const { bytesWritten } = await services.files.write(request.caller, params['sandbox'], query, signal);
  return bytesWritten;
}
