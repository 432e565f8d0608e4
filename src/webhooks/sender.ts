/**
 * Sends events to receivers. A member chooses the URL and the service connects: the name is resolved once, each address is
 * checked, and the connection goes to the checked ones. No proxy, no redirect, and nothing of the answer but its status.
 */
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { abortRace } from '../concurrency/abort-race.ts';
import type { Answer, WebhookSender } from '../control/ports/index.ts';
import { limits } from '../model/limits.ts';
import { type Address, pinnedLookup } from '../model/network/pinned-lookup.ts';
import { type AllowedReceiver, hostOf, isNamed, mayConnect } from '../model/webhooks/receiver.ts';
import { lookUp, query } from './resolve.ts';

export interface SenderOptions {
  allowed: readonly AllowedReceiver[];
  resolve?(host: string): Promise<Address[]>;
  /** Certificates to trust in place of the usual ones. */
  ca?: string | Buffer;
}

type Sent = Parameters<WebhookSender['send']>[0];

const { attemptMs, answerBytes, answerHeaderBytes } = limits.webhooks;

export function createWebhookSender({ allowed, resolve, ca }: SenderOptions): WebhookSender {
  return {
    async send({ signal, ...sent }) {
      const within = AbortSignal.any([signal, AbortSignal.timeout(attemptMs)]);
      try {
        const url = new URL(sent.url);
        // A resolver may take longer than the whole attempt has.
        const ask = resolve ?? (isNamed(url, allowed) ? lookUp : query);
        const addresses = await abortRace(addressesOf(hostOf(url), ask), within);
        const found = addresses.map(({ address }) => address);
        // A name with one private address beside public ones is no honest one.
        if (!mayConnect(url, found, allowed)) return { error: 'refused' };
        return await post(url, addresses, { ...sent, signal: within }, ca);
      } catch (error) {
        return { error: failureOf(error) };
      }
    },
  };
}

function post(url: URL, addresses: Address[], sent: Sent, ca: string | Buffer | undefined): Promise<Answer> {
  const { body, headers, signal } = sent;
  return new Promise((resolve, reject) => {
    const options = {
      method: 'POST',
      // Without an agent no proxy of the environment is used, and no connection outlives its checked addresses.
      ...{ agent: false, lookup: pinnedLookup(addresses), signal, maxHeaderSize: answerHeaderBytes },
      headers: {
        ...headers,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'user-agent': 'sandhaven-webhooks',
      },
    };
    const request: ClientRequest =
      url.protocol === 'https:'
        ? httpsRequest(url, { ...options, ...(ca === undefined ? {} : { ca }) })
        : httpRequest(url, options);
    // Also after the answer, when the time is over: an error without a listener would end the process.
    request.on('error', reject);
    request.once('response', (answer) => {
      discard(answer);
      const retryAfter = answer.headers['retry-after'] ?? null;
      resolve({ status: answer.statusCode ?? 0, retryAfter });
    });
    request.end(body);
  });
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

async function addressesOf(host: string, resolve: (host: string) => Promise<Address[]>): Promise<Address[]> {
  const family = isIP(host);
  return family === 0 ? resolve(host) : [{ address: host, family }];
}

/** Nothing of an error's own text is kept: it names addresses. */
function failureOf(error: unknown): Extract<Answer, { error: string }>['error'] {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (/^(?:CERT_|DEPTH_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_)/.test(code))
    return 'the certificate is not trusted';
  return code === 'ECONNREFUSED' ? 'refused' : 'no answer';
}
