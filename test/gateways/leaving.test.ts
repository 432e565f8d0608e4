/** Errors in the log of previews are the service's own: a visitor who leaves is none, a defect is. */
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { startLoneGateway } from './lone-gateway.ts';
import { dial, visit } from './visitor.ts';

it('a visitor who leaves before the application is reached is no error in the log', async () => {
  const reached = Promise.withResolvers<AbortSignal>();
  const { gateway, site, errors } = await startLoneGateway(1, (_sandbox, _port, signal) => {
    reached.resolve(signal);
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  });
  const visitor = dial(site, `GET / HTTP/1.1\r\nHost: ${new URL(site).host}\r\n\r\n`);
  const signal = await reached.promise;
  const left = once(signal, 'abort');
  visitor.destroy();
  await left;
  await gateway.close();
  expect(errors).toEqual([]);
});

it('a defect is an error in the log, and an answer without its words', async () => {
  const { gateway, site, errors } = await startLoneGateway(1, () => Promise.reject(new Error('hunter2')));
  const { status, text } = await visit(site);
  expect([status, text]).toEqual([500, 'The preview failed with an internal error.\n']);
  await gateway.close();
  expect(errors).toEqual(['preview failed']);
});
