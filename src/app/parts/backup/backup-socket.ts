/**
 * The way of `sandhaven backup` to a running service: a socket that root of this host alone can reach, as it can the data
 * directory. The API has no such route, since admins may not read inside everybody's sandboxes, and a stolen key would
 * take all of them.
 */
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Entry } from '../../../backup/entry.ts';
import { tarOf } from '../../../backup/tar.ts';
import type { AuditService } from '../../../control/audit/audit.ts';
import { auditActions } from '../../../model/audit.ts';
import { type ErrorCode, errorTable, isDefect, SandhavenError, toProblem } from '../../../model/errors.ts';
import { newRequestId } from '../../../model/ids.ts';
import { limits } from '../../../model/limits.ts';
import { runDirOf } from '../../engine/engine.ts';
import { type BackupSource, makeBackup, removeBackupRemains } from './make-backup.ts';

/** Removes the remains of an earlier process, and serves. Returns the end of it, which breaks off a backup in progress. */
export async function serveBackups(source: BackupSource, audit: AuditService): Promise<() => Promise<void>> {
  await removeBackupRemains(source.data);
  const path = socketOf(source.data.instance);
  const folder = join(path, '..');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  rmSync(path, { force: true });
  const closing = new AbortController();
  let current: Promise<void> | null = null;
  const server = createServer((_call, response) => {
    if (current !== null) return refuse(response, inProgress(), source);
    current = answer(source, response, { audit, closing: closing.signal }).finally(() => {
      current = null;
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  return async () => {
    closing.abort();
    server.close();
    server.closeAllConnections();
    await current;
  };
}

/** Asks the service of this instance for a backup. Rejects with its own error, or `unavailable` without an answer. */
export async function requestBackup(instance: string, signal: AbortSignal): Promise<AsyncIterable<Buffer>> {
  const answered = await new Promise<IncomingMessage>((resolve, reject) => {
    const call = request({ socketPath: socketOf(instance), path: '/backup', method: 'POST', signal });
    call.once('response', resolve);
    call.once('error', (cause) => reject(noAnswer(cause)));
    call.end();
  });
  if (answered.statusCode === 200) return answered;
  const parts: Buffer[] = [];
  for await (const part of answered) parts.push(part);
  throw errorOf(Buffer.concat(parts).toString());
}

const socketOf = (instance: string): string => join(runDirOf(instance), 'operator', 'backup.sock');

async function answer(
  source: BackupSource,
  response: ServerResponse,
  { audit, closing }: { audit: AuditService; closing: AbortSignal },
): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  // A client may wait long for the next piece, but not leave one untaken.
  response.setTimeout(limits.backups.idleMs, () => {
    if (response.writableNeedDrain) response.destroy();
  });
  const nobody = { id: null, keyId: null };
  const origin = { transport: 'service', address: null } as const;
  const subject = {
    action: auditActions.backup,
    caller: nobody,
    origin,
    requestId: null,
    signal: gone.signal,
  };
  const signal = AbortSignal.any([gone.signal, closing]);
  await audit
    .call(subject, () => send(source, response, signal))
    .catch((error: unknown) => refuse(response, error, source));
}

async function send(source: BackupSource, response: ServerResponse, signal: AbortSignal): Promise<void> {
  const entries = makeBackup(source, signal);
  try {
    // A refusal comes with the first entry, while the answer can still be a problem.
    const first = await entries.next();
    response.writeHead(200, { 'content-type': 'application/x-tar' });
    const tar = tarOf(whole(first, entries));
    await pipeline(Readable.from(tar, { objectMode: false }), response);
  } finally {
    await entries.return(undefined);
  }
}

async function* whole(
  first: IteratorResult<Entry, unknown>,
  rest: AsyncIterable<Entry>,
): AsyncGenerator<Entry> {
  if (first.done) return;
  yield first.value;
  yield* rest;
}

/** A stream that has begun is broken off: without its manifest it is no backup. */
function refuse(response: ServerResponse, error: unknown, { log }: BackupSource): void {
  if (isDefect(error, isBrokenOff(error))) log.error('a backup failed', { error });
  if (response.headersSent || response.destroyed) return void response.destroy();
  const problem = toProblem(error, newRequestId());
  response.writeHead(problem.status, { 'content-type': 'application/problem+json' });
  response.end(JSON.stringify(problem));
}

/** A response that closes while it is written, and one that was closed before. */
const brokenOff = ['ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_UNABLE_TO_PIPE'];

/** The reader has left, or the service stops. A failure of ours closes the response too, so that says nothing. */
function isBrokenOff(error: unknown): boolean {
  const { name, code } = error as NodeJS.ErrnoException;
  return name === 'AbortError' || brokenOff.includes(code ?? '');
}

function errorOf(text: string): SandhavenError {
  const { code, detail, hint } = JSON.parse(text) as Record<string, unknown>;
  if (typeof code !== 'string' || !Object.hasOwn(errorTable, code))
    throw new Error('the answer is no problem');
  return new SandhavenError(code as ErrorCode, String(detail), typeof hint === 'string' ? { hint } : {});
}

function inProgress(): SandhavenError {
  return new SandhavenError('resource_exhausted', 'A backup of this service is in progress.', {
    hint: 'Wait until it has ended.',
    retryable: true,
  });
}

function noAnswer(cause: Error): SandhavenError {
  return new SandhavenError(
    'unavailable',
    'The service of this data directory takes no backup.',
    {
      hint: 'Try again once it is ready; one on Kubernetes is backed up by pg_dump and volume snapshots (docs/backup.md).',
    },
    cause,
  );
}
