/** Agent operation by which programs inside trust an authority. */
import { X509Certificate } from 'node:crypto';
import type { AgentLink } from '../control/ports/index.ts';
import { subjectHash } from '../model/certificates/certificate.ts';
import { limits } from '../model/limits.ts';
import type { Ask } from './call.ts';
import { emptyReply } from './replies.ts';

/** Protocol version that introduced it. */
const v = 5;

/** @param roots Certificates (PEM) for systems that have none of their own. */
export function trustOf(ask: Ask, roots: string | null): Pick<AgentLink, 'trust'> {
  const given = roots === null ? {} : { roots };
  return {
    trust: (id, certificate) =>
      ask(
        id,
        {
          request: { v, op: 'trust', certificate, subject_hash: hashOf(certificate), ...given },
          timeoutMs: limits.helloTimeoutMs,
          reply: emptyReply,
        },
        () => {},
      ),
  };
}

/** Authorities have a common name alone. */
function hashOf(certificate: string): string {
  return subjectHash(new X509Certificate(certificate).subject.replace(/^CN=/, ''));
}
