/** Joins both connections after an upgrade, to WebSocket mostly: bytes both ways until either side leaves. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { toVisitor } from './headers.ts';

interface Visitor {
  request: IncomingMessage;
  response: ServerResponse;
  /** The preview's URL carries its token. */
  signed: boolean;
}

interface Upgraded {
  answer: IncomingMessage;
  socket: Duplex;
  /** First bytes after the application's response. */
  head: Buffer;
}

/** @param early First bytes after the visitor's request. */
export function switchOver(
  { request, response, signed }: Visitor,
  early: Buffer,
  { answer, socket: upstream, head }: Upgraded,
): void {
  const visitor = request.socket;
  const headers = toVisitor(answer, signed);
  headers.push('Connection', 'Upgrade', 'Upgrade', answer.headers.upgrade ?? '');
  const lines = [`HTTP/1.1 101 ${answer.statusMessage ?? ''}`];
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`);
  visitor.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  if (head.length > 0) visitor.write(head);
  if (early.length > 0) upstream.write(early);
  upstream.once('error', () => visitor.destroy());
  upstream.once('close', () => visitor.destroySoon());
  visitor.once('close', () => {
    upstream.destroy();
    response.destroy();
  });
  upstream.pipe(visitor);
  visitor.pipe(upstream);
}
