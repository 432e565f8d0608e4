/** The bytes of files: GET and POST /files, by the token of the sandbox or by a signature that it has made. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { posix } from 'node:path';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { auditActions } from '../../../model/audit.ts';
import { invalidArgument, SandhavenError } from '../../../model/errors.ts';
import { audited } from '../../daytona/base/call.ts';
import { sendFile } from '../../daytona/toolbox/files/download.ts';
import { boundaryOf, partsOf } from '../../multipart.ts';
import type { Message } from './connect.ts';
import { absolute, type InsideCall, METADATA_SPACE, ROOT } from './filesystem.ts';

export async function download(call: InsideCall): Promise<unknown> {
  const path = absolute(call, call.query['path'] ?? '');
  return audited(call, { action: auditActions.download, scope: 'sandboxes:read' }, async () => {
    const query = { path, user: ROOT };
    const opened = await call.services.files.readStream(
      call.request.caller,
      call.sandbox,
      query,
      call.signal,
    );
    return sendFile(call.reply, opened, call.signal);
  });
}

/** Takes the bytes themselves, for the path of the query, or a form, whose files may name theirs. */
export async function upload(call: InsideCall): Promise<unknown> {
  const { headers, raw } = call.request;
  const boundary = boundaryOf(headers['content-type']);
  const path = call.query['path'];
  return audited(call, { action: auditActions.upload, scope: 'sandboxes:write' }, async () => {
    if (boundary === null) {
      if (path === undefined) throw invalidArgument('path', 'path is required.');
      const content = headers['content-encoding'] === 'gzip' ? raw.pipe(createGunzip()) : raw;
      return [await write(call, path, content)];
    }
    const written: Message[] = [];
    for await (const { name, filename, content } of partsOf(raw, boundary)) {
      const to = path ?? filename;
      if (name === 'file' && to !== undefined) written.push(await write(call, to, Readable.from(content)));
    }
    if (written.length === 0) throw invalidArgument('file', 'The form has no field file.');
    return written;
  });
}

const METADATA = 'x-metadata-';

async function write(call: InsideCall, to: string, content: Readable): Promise<Message> {
  const path = absolute(call, to);
  const named = Object.entries(call.request.headers)
    .filter(([name]) => name.startsWith(METADATA))
    .map(([name, value]) => [name.slice(METADATA.length), String(value)] as const);
  const metadata = Object.fromEntries(named.map(([name, value]) => [METADATA_SPACE + name, value]));
  const file = { path, content, createParents: true, user: call.user, privileged: true as const, metadata };
  content.on('error', () => {});
  await call.services.files.write(call.request.caller, call.sandbox, file, call.signal);
  const shown = named.length > 0 ? { metadata: Object.fromEntries(named) } : {};
  return { name: posix.basename(path), path, type: 'file', ...shown };
}

/** Throws `unauthenticated` for a signature that is not that of this request, or whose time is over. */
export function assertSigned(
  { method, query }: { method: string; query: Record<string, string | undefined> },
  token: string,
  now: number,
): void {
  const { path = '', username = '', signature = '', signature_expiration: end } = query;
  const named = [
    path,
    method === 'GET' ? 'read' : 'write',
    username,
    token,
    ...(end === undefined ? [] : [end]),
  ];
  const right = `v1_${createHash('sha256').update(named.join(':')).digest('base64').replace(/=+$/, '')}`;
  if (!isSame(signature, right)) throw new SandhavenError('unauthenticated', 'invalid signature');
  if (end !== undefined && Number(end) * 1_000 <= now)
    throw new SandhavenError('unauthenticated', 'signature is already expired');
}

function isSame(given: string, right: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(right));
}
