/** Copies a file of a sandbox to this machine, or to standard output. */
import { randomUUID } from 'node:crypto';
import { createWriteStream, type Stats } from 'node:fs';
import { chmod, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { withoutUndefined } from '../../../catalog/base/tool.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { type Connection, unreachable } from '../connection.ts';
import { usageError } from '../flags.ts';
import type { CliIo } from '../io.ts';
import { type ProgressLine, progressLine } from '../output.ts';
import { answerOf, filesPath, jsonOf, openRequest, type RemoteInfo, remoteInfo } from './byte-request.ts';
import type { Copy } from './place.ts';
import { counted } from './place.ts';
import { isDirectory } from './upload.ts';

type Download = Extract<Copy, { direction: 'down' }> & { user: string | undefined };

const noProgress: ProgressLine = { show() {}, clear() {} };

interface Target {
  /** Path for the report; - is standard output. */
  path: string;
  stream: Writable;
  keep(): Promise<void>;
  discard(): Promise<void>;
}

/** Leaves the file here as it was unless every byte came. */
export async function download(
  connection: Connection,
  { from, to, user }: Download,
  io: CliIo,
): Promise<{ path: string; bytes: number }> {
  const info = await remoteInfo(connection, { ...from, user }, io.signal);
  if (info?.type === 'dir') {
    const pack = `sandhaven exec '${from.sandbox}' -- tar czf /tmp/files.tar.gz '${from.path}'`;
    throw isDirectory(`${from.sandbox}:${from.path}`, `${pack}, and copy that.`);
  }
  const { sandbox, path } = from;
  const query = withoutUndefined({ path, user });
  const outgoing = openRequest(connection, { method: 'GET', path: filesPath(sandbox, query) }, io.signal);
  outgoing.end();
  const answer = await answerOf(outgoing, connection);
  if (answer.statusCode !== 200) {
    await jsonOf(answer, connection);
    throw unreachable(connection.url, new Error(`status ${answer.statusCode} without a problem`));
  }
  const length = answer.headers['content-length'];
  const target = await openTarget(to, { path: from.path, info }, io).catch((error: unknown) => {
    answer.destroy();
    throw error;
  });
  // Progress and bytes on one terminal would mix.
  const line = to.kind === 'standard' && io.stdout.isTTY ? noProgress : progressLine(io);
  const total = length === undefined ? undefined : Number(length);
  const progress = counted(`Copying from ${sandbox}:`, total, line);
  try {
    await pipeline(answer, progress.stream, target.stream, {
      signal: io.signal,
      end: to.kind !== 'standard',
    });
    await target.keep();
    return { path: target.path, bytes: progress.bytes() };
  } catch (error) {
    await target.discard();
    throw io.signal.aborted || error instanceof SandhavenError ? error : brokenOff(error);
  } finally {
    progress.clear();
  }
}

/** The system's errors name a call of this machine; others come from the connection. */
function brokenOff(error: unknown): SandhavenError {
  const code = (error as NodeJS.ErrnoException).code ?? 'the connection broke';
  return new SandhavenError('unavailable', `The copy was interrupted: ${code}.`, {
    hint: 'Nothing was changed here. Check the service and the free space of this disk, and copy again.',
  });
}

async function openTarget(
  to: Download['to'],
  remote: { path: string; info: RemoteInfo | null },
  { stdout }: CliIo,
): Promise<Target> {
  if (to.kind === 'standard') {
    return { path: '-', stream: stdout, keep: async () => {}, discard: async () => {} };
  }
  const given = await statOf(to.path);
  const isInside = to.path.endsWith('/') || given?.isDirectory() === true;
  const path = isInside ? join(to.path, nameOf(remote.path)) : to.path;
  const existing = isInside ? await statOf(path) : given;
  if (existing?.isDirectory()) throw usageError(`'${path}' is a directory.`, 'Give the path of a file.');
  // A device or a pipe is written to; replacing it would take it away.
  if (existing && !existing.isFile()) {
    const stream = createWriteStream(path);
    return { path, stream, keep: async () => {}, discard: async () => {} };
  }
  const real = existing ? await realpath(path) : path;
  const unfinished = join(dirname(real), `.sandhaven-${randomUUID()}`);
  const mode = remote.info?.type === 'file' ? remote.info.mode | 0o600 : 0o666;
  const stream = createWriteStream(unfinished, { flags: 'wx', mode });
  await new Promise((resolve, reject) => stream.once('open', resolve).once('error', reject)).catch(
    (error) => {
      const hint = 'Check that its folder exists, and its permissions.';
      throw usageError(`'${path}' cannot be written: ${error.code}.`, hint);
    },
  );
  return {
    path,
    stream,
    async keep() {
      if (existing) await chmod(unfinished, existing.mode & 0o777);
      await rename(unfinished, real);
    },
    discard: () => rm(unfinished, { force: true }),
  };
}

/** A name of a sandbox must not lead out of the folder that was given here. */
function nameOf(remote: string): string {
  const name = posix.basename(remote);
  if (name !== '' && name !== '.' && name !== '..' && !name.includes('\\')) return name;
  throw usageError(`'${remote}' does not end in the name of a file.`, 'Give the path of a file here.');
}

function statOf(path: string): Promise<Stats | null> {
  return stat(path).catch(() => null);
}
