/** A real receiver on loopback, with TLS, that notes what it gets and verifies it by itself. */
import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { makeCertificate } from '../support/certificates.ts';

export interface Got {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Receiver {
  url: string;
  port: number;
  /** Certificate to trust. */
  ca: string;
  got: Got[];
  /** Answers the next requests; 204 at first. */
  answer: (request: IncomingMessage, response: ServerResponse) => void;
  close(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const certificate = makeCertificate(['DNS:localhost', 'IP:127.0.0.1']);
  const server = createServer(
    { cert: certificate.pem(), key: certificate.key() },
    async (request, response) => {
      const body = await text(request).catch(() => '');
      receiver.got.push({ path: request.url ?? '', headers: request.headers, body });
      receiver.answer(request, response);
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = {
    ...{ url: `https://localhost:${port}/hooks`, port, ca: certificate.pem(), got: [] },
    answer: (_, response) => response.writeHead(204).end(),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      certificate.remove();
    },
  };
  return receiver;
}

/** Verifies a request as the text of Standard Webhooks says, without a line of the service. */
export function isSigned({ headers, body }: Got, secret: string): boolean {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  const expected = createHmac('sha256', key).update(signed).digest('base64');
  return String(headers['webhook-signature']).split(' ').includes(`v1,${expected}`);
}
