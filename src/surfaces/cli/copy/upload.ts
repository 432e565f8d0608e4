/** Copies a file of this machine, or standard input, into a sandbox. */
import { type FileHandle, open } from 'node:fs/promises';
import { basename, posix } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { withoutUndefined } from '../../../catalog/base/tool.ts';
import { SandhavenError } from '../../../model/errors.ts';
import type { Connection } from '../connection.ts';
import { usageError } from '../flags.ts';
import type { CliIo } from '../io.ts';
import { progressLine } from '../output.ts';
import { answerOf, filesPath, jsonOf, openRequest, remoteInfo } from './byte-request.ts';
import type { Copy } from './place.ts';
import { counted } from './place.ts';

type Upload = Extract<Copy, { direction: 'up' }> & { user: string | undefined };

interface Source {
  stream: Readable;
  /** Mode of the file, kept in the sandbox: a program stays one. */
  query: { mode?: string };
  size?: number;
  close(): Promise<void>;
}

/** @returns the result of the service, with the path that was written. */
export async function upload(
  connection: Connection,
  { from, to, user }: Upload,
  io: CliIo,
): Promise<{ path: string; bytes_written: number }> {
  const source = await openSource(from, io);
  try {
    const path = await targetOf(connection, { from, to, user }, io.signal);
    const query = withoutUndefined({ path, user, ...source.query });
    const headers = source.size === undefined ? {} : { 'content-length': source.size };
    const request = { method: 'PUT', path: filesPath(to.sandbox, query), headers } as const;
    const outgoing = openRequest(connection, request, io.signal);
    const answered = answerOf(outgoing, connection);
    const progress = counted(`Copying to ${to.sandbox}:`, source.size, progressLine(io));
    const ended = new AbortController();
    const sent = pipeline(source.stream, progress.stream, outgoing, { signal: ended.signal }).catch(() => {});
    try {
      // A refusal comes before the end of the body.
      const result = await jsonOf(await answered, connection);
      return { path, bytes_written: Number(result['bytes_written']) };
    } finally {
      ended.abort();
      await sent;
      progress.clear();
    }
  } finally {
    await source.close();
  }
}

async function openSource(from: Upload['from'], { stdin }: CliIo): Promise<Source> {
  if (from.kind === 'standard') {
    if (stdin.isTTY) throw usageError('Standard input is a terminal.', 'Pipe the bytes in, or give a file.');
    return { stream: stdin, query: {}, close: async () => {} };
  }
  const file = await open(from.path, 'r').catch((error: NodeJS.ErrnoException) => {
    throw usageError(
      `The file '${from.path}' cannot be read: ${error.code}.`,
      'Check its name and its permissions.',
    );
  });
  const source = await sourceOf(file, from.path).catch(async (error: unknown) => {
    await file.close();
    throw error;
  });
  return source;
}

async function sourceOf(file: FileHandle, path: string): Promise<Source> {
  const stat = await file.stat();
  if (stat.isDirectory())
    throw isDirectory(path, `tar cz '${path}' | sandhaven cp - SANDBOX:/tmp/files.tar.gz`);
  // The bytes promised are those that the file has now, even if it grows meanwhile; files of /proc have a size of 0.
  const size = stat.isFile() && stat.size > 0 ? { size: stat.size } : {};
  const bounds = size.size === undefined ? {} : { start: 0, end: size.size - 1 };
  return {
    stream: file.createReadStream({ autoClose: false, ...bounds }),
    query: { mode: (stat.mode & 0o777).toString(8).padStart(4, '0') },
    ...size,
    close: () => file.close(),
  };
}

/** Puts the file into a path that is a directory, under its own name. */
async function targetOf(
  connection: Connection,
  { from, to, user }: Pick<Upload, 'from' | 'to' | 'user'>,
  signal: AbortSignal,
): Promise<string> {
  const inside =
    to.path.endsWith('/') || (await remoteInfo(connection, { ...to, user }, signal))?.type === 'dir';
  if (!inside) return to.path;
  if (from.kind === 'local') return posix.join(to.path, basename(from.path));
  throw usageError(
    `'${to.sandbox}:${to.path}' is a directory.`,
    'Standard input has no name: give the path of a file.',
  );
}

/** @param instead The command that packs the directory. */
export function isDirectory(path: string, instead: string): SandhavenError {
  return new SandhavenError('invalid_argument', `'${path}' is a directory, and only files are copied.`, {
    hint: `Pack it: ${instead}`,
  });
}
