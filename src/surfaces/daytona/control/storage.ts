/**
 * The storage that clients send the files of a build to, in the words of S3 that they use of it: an archive is looked for, sent
 * whole, or sent in parts. A token that the control API lends opens it for an hour; what clients sign by it is not looked at.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Shares } from '../../../fairness/shares.ts';
import { canceled, invalidArgument, SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { assertScope } from '../../../model/scopes.ts';
import { type Caller, ownerIdOf } from '../../../model/user.ts';
import { explain } from '../../http/base/problem.ts';
import { breakOff } from '../../streams.ts';
import type { DaytonaCall, DaytonaDependencies, DaytonaRoute } from '../base/call.ts';
import { sentencesOf } from '../base/errors.ts';

const STORAGE = '/daytona/storage';
const BUCKET = 'builds';
const TOKEN = 'x-amz-security-token';
/** `{owner}/{name}/context.tar`, or a beginning of it where one looks for it. */
const KEY = /^([\w-]+)\/([\w-]{1,128})\/(?:context\.tar)?$/;

export const storageRoutes: readonly DaytonaRoute[] = [
  { method: 'GET', path: '/object-storage/push-access', handler: lend },
];

async function lend({ request, services, origin }: DaytonaCall): Promise<unknown> {
  assertScope(request.caller, 'sandboxes:write');
  return {
    // Their signature has these two in it, and nobody checks it.
    ...{ accessKey: 'sandhaven', secret: 'unused' },
    sessionToken: services.uploads.grant(request.caller),
    ...{ storageUrl: `${origin}${STORAGE}`, bucket: BUCKET, region: 'us-east-1' },
    organizationId: ownerIdOf(request.caller),
  };
}

type Query = Record<string, string | undefined>;

/** An archive of a caller, by its name. */
interface Named {
  caller: Caller;
  name: string;
}

export function addStorage(app: FastifyInstance, { services, log }: DaytonaDependencies): void {
  const { uploads } = services;
  const coming = new Shares({ ...limits.build.bodies, what: 'files for builds are coming' });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  app.setErrorHandler((error, request, reply) => {
    const problem = explain(error, request, log);
    const { code, status } = problem;
    const message = element('Message', sentencesOf(problem));
    const text = `<Error>${element('Code', codes[code] ?? code)}${message}</Error>`;
    return xml(reply.code(status), text);
  });
  const config = { open: true, byteStream: true };
  const root = `${STORAGE}/${BUCKET}`;

  const list = async (request: FastifyRequest, reply: FastifyReply) => {
    const { prefix = '' } = request.query as Query;
    const { caller, name } = named(request, prefix);
    const isHere = uploads.has(caller, name);
    const key = `${prefix.slice(0, prefix.lastIndexOf('/') + 1)}context.tar`;
    const content = isHere ? `<Contents>${element('Key', key)}${element('Size', '0')}</Contents>` : '';
    const found = `${element('Name', BUCKET)}${element('KeyCount', isHere ? '1' : '0')}${content}`;
    return xml(reply, `<ListBucketResult>${found}<IsTruncated>false</IsTruncated></ListBucketResult>`);
  };
  for (const url of [root, `${root}/`]) app.get(url, { config, exposeHeadRoute: false }, list);

  app.head(`${root}/*`, { config }, async (request, reply) => {
    const { caller, name } = namedIn(request);
    return reply.code(uploads.has(caller, name) ? 200 : 404).send();
  });

  app.put(`${root}/*`, { config }, async (request, reply) => {
    const { caller, name } = namedIn(request);
    const { uploadId, partNumber } = request.query as Query;
    await taken(request, reply, caller, (body) =>
      uploadId === undefined
        ? uploads.put(caller, name, body)
        : uploads.part(caller, uploadId, Number(partNumber), body),
    );
    return reply.header('etag', `"${partNumber ?? '1'}"`).send();
  });

  app.post(`${root}/*`, { config }, async (request, reply) => {
    const { caller, name } = namedIn(request);
    const { uploadId } = request.query as Query;
    const key = keyIn(request);
    if (uploadId === undefined) {
      const id = await uploads.begin(caller, name);
      const begun = `${element('Bucket', BUCKET)}${element('Key', key)}${element('UploadId', id)}`;
      return xml(reply, `<InitiateMultipartUploadResult>${begun}</InitiateMultipartUploadResult>`);
    }
    const text = await taken(request, reply, caller, whole);
    const numbers = [...text.matchAll(/<PartNumber>\s*(\d{1,5})\s*<\/PartNumber>/g)];
    uploads.complete(
      caller,
      uploadId,
      numbers.map(([, number]) => Number(number)),
    );
    const all = `${element('Bucket', BUCKET)}${element('Key', key)}${element('ETag', '"1"')}`;
    return xml(reply, `<CompleteMultipartUploadResult>${all}</CompleteMultipartUploadResult>`);
  });

  app.delete(`${root}/*`, { config }, async (request, reply) => {
    const { uploadId = '' } = request.query as Query;
    uploads.abort(namedIn(request).caller, uploadId);
    return reply.code(204).send();
  });

  function named({ headers }: FastifyRequest, key: string): Named {
    const token = headers[TOKEN];
    const caller = typeof token === 'string' ? uploads.granted(token) : null;
    if (!caller)
      throw new SandhavenError('permission_denied', 'The token of the storage is not valid any more.', {
        hint: 'Ask for access to the storage again.',
      });
    const [, owner, name] = KEY.exec(key) ?? [];
    if (name !== undefined && owner === ownerIdOf(caller)) return { caller, name };
    throw invalidArgument('key', 'A key here is ORGANIZATION/HASH/context.tar.');
  }

  function namedIn(request: FastifyRequest): Named {
    return named(request, keyIn(request));
  }

  /** Reads a body within the caller's share of those that come at once. */
  async function taken<T>(
    { raw, headers }: FastifyRequest,
    reply: FastifyReply,
    caller: Caller,
    work: (body: AsyncIterable<Buffer>) => Promise<T>,
  ): Promise<T> {
    if (headers['content-encoding']?.includes('aws-chunked'))
      throw invalidArgument('content-encoding', 'The storage takes bytes as they are, not in signed chunks.');
    raw.socket.setTimeout(limits.byteStreamIdleMs);
    reply.raw.once('close', coming.take(caller.id));
    reply.raw.once(
      'close',
      services.identity.whileValid(caller, () => breakOff(raw.socket)),
    );
    return work(raw.iterator({ destroyOnReturn: false })).catch((error: unknown) => {
      // A body that breaks off is its client's, who has left.
      throw raw.errored ? canceled(error) : error;
    });
  }
}

/** Their names of errors of ours. */
const codes: Record<string, string> = {
  permission_denied: 'AccessDenied',
  not_found: 'NoSuchUpload',
  resource_exhausted: 'SlowDown',
};

const keyIn = ({ params }: FastifyRequest): string => (params as { '*': string })['*'];

const element = (name: string, text: string): string => `<${name}>${escaped(text)}</${name}>`;

const escaped = (text: string): string => text.replace(/[<>&]/g, (sign) => `&#${sign.charCodeAt(0)};`);

function xml(reply: FastifyReply, body: string): FastifyReply {
  return reply.type('application/xml').send(`<?xml version="1.0" encoding="UTF-8"?>\n${body}`);
}

/** Bytes of a list of parts. */
const LIST_BYTES = 256 * 1024;

async function whole(body: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > LIST_BYTES) throw invalidArgument('body', 'The list of parts is too long.');
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}
