/** Files by addresses that the sandbox's key has signed, for who has no other key. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { posix } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { sandbox } from '../../../../catalog/parameters/sandbox.ts';
import { path } from '../../../../catalog/parameters/scalars.ts';
import { validateInput } from '../../../../catalog/validate.ts';
import type { SignedFile } from '../../../../control/access/signed-files.ts';
import type { Services } from '../../../../control/services.ts';
import { clientSignal } from '../../../http/routes/send.ts';
import { breakOff } from '../../../streams.ts';
import { sendFile } from './download.ts';
import { takeFile } from './upload.ts';

const asked = z.object({
  sandbox,
  path: path(),
  expires: z.string().regex(/^\d{1,15}$/, 'must be seconds since 1970'),
  signature: z.string().max(128),
});

/** True for a request that brings a signature in place of a key. */
export function isSigned({ query }: FastifyRequest): boolean {
  return typeof (query as Record<string, unknown>)['signature'] === 'string';
}

/** Reads or writes the file, by the method of the request. */
export function serveSigned(
  request: FastifyRequest,
  reply: FastifyReply,
  { signedFiles }: Pick<Services, 'signedFiles'>,
): Promise<unknown> {
  const query = { ...(request.query as object), ...(request.params as object) };
  const { sandbox: sandboxId, path: file, expires, signature } = validateInput(asked, query);
  const signal = clientSignal(reply);
  const canonical = `v1:files:${request.method}:${file}:${expires}`;
  const visit = {
    ...{ sandboxId, path: file, signal, address: request.arrival.client || null },
    expiresAt: Number(expires) * 1_000,
    isSigned: (key: string) => isSame(signature, signatureOf(key, canonical)),
  };
  const work = async (signed: SignedFile) => {
    if (request.method === 'GET') return sendFile(reply, await signed.read(), signal);
    await takeFile(request, (content) => signed.write(content));
    return { name: posix.basename(file), path: file, type: 'file' };
  };
  return signedFiles.visit(visit, work, () => breakOff(request.raw.socket));
}

function signatureOf(key: string, canonical: string): string {
  return `v1_${createHmac('sha256', key).update(canonical).digest('base64url')}`;
}

function isSame(given: string, right: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(right)];
  return one.length === other.length && timingSafeEqual(one, other);
}
