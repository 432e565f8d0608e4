/**
 * Sends events to receivers. A member chooses the URL and the service connects: the exit resolves the name once and decides about
 * its addresses. No proxy, no redirect, and nothing of the answer but its status.
 */
import type { IncomingMessage } from 'node:http';
import type { Answer, WebhookSender } from '../control/ports/index.ts';
import { limits } from '../model/limits.ts';
import { type AllowedHost, targetOf } from '../model/network/allowed-hosts.ts';
import { isOrderly } from '../model/webhooks/receiver.ts';
import { NotReached } from '../outbound/addresses.ts';
import type { Exit } from '../outbound/exit.ts';
import { begin, toAddresses } from '../outbound/request.ts';

export interface SenderOptions {
  exit: Exit;
  allowed: readonly AllowedHost[];
  /** Certificates to trust in place of the usual ones. */
  ca?: string | Buffer | undefined;
}

const { attemptMs, answerBytes, answerHeaderBytes } = limits.webhooks;

export function createWebhookSender({ exit, allowed, ca }: SenderOptions): WebhookSender {
  return {
    async send({ url: text, headers, body, owner, signal }) {
      const within = AbortSignal.any([signal, AbortSignal.timeout(attemptMs)]);
      try {
        const url = new URL(text);
        // The operator may have allowed it once and not any more.
        if (!isOrderly(url, allowed)) return { error: 'refused' };
        const addresses = await exit.addresses(targetOf(url), { allowed, owner, signal: within });
        const answer = await begin(url, {
          ...{ method: 'POST', way: toAddresses(addresses), body, signal: within, ca },
          headerBytes: answerHeaderBytes,
          headers: {
            ...headers,
            'content-type': 'application/json',
            'user-agent': 'sandhaven-webhooks',
          },
        });
        discard(answer);
        return { status: answer.statusCode ?? 0, retryAfter: answer.headers['retry-after'] ?? null };
      } catch (error) {
        return { error: failureOf(error) };
      }
    },
  };
}

/** Reads a little, so that a receiver may end its answer in peace, and keeps none of it. */
function discard(answer: IncomingMessage): void {
  let bytes = 0;
  answer.on('data', (piece: Buffer) => {
    bytes += piece.length;
    if (bytes > answerBytes) answer.destroy();
  });
  answer.on('error', () => {});
}

/** Nothing of an error's own text is kept: it names addresses. */
function failureOf(error: unknown): Extract<Answer, { error: string }>['error'] {
  if (error instanceof NotReached && error.reason === 'private') return 'refused';
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (/^(?:CERT_|DEPTH_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_)/.test(code))
    return 'the certificate is not trusted';
  return code === 'ECONNREFUSED' ? 'refused' : 'no answer';
}
