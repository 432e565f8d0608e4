/** The authority in the store: one for all replicas, which signs what each of them trusts. */
import { X509Certificate } from 'node:crypto';
import { expect, it } from 'vitest';
import { certifySandbox, openAuthority } from '../../../src/agent-link/authority.ts';
import { memoryServiceSecrets } from '../../store/memory/memory-service-secrets.ts';

it('is made once, whichever replica opens it, and when', async () => {
  const secrets = memoryServiceSecrets();
  const [first, second] = await Promise.all([
    openAuthority(secrets, 'abc123', Date.now()),
    openAuthority(secrets, 'def456', Date.now()),
  ]);
  expect(second).toEqual(first);
  expect(await openAuthority(secrets, 'abc123', Date.now() + 1_000_000)).toEqual(first);
  expect(new X509Certificate(first.certificate).subject).toBe('CN=sandhaven authority abc123');
});

it('signs certificates after it was read again', async () => {
  const secrets = memoryServiceSecrets();
  const { certificate } = await openAuthority(secrets, 'abc123', Date.now());
  const again = await openAuthority(secrets, 'abc123', Date.now());
  const agent = new X509Certificate(certifySandbox(again, 'sb_1', 1, Date.now()).certificate);
  expect(agent.verify(new X509Certificate(certificate).publicKey)).toBe(true);
});

it('is refused when its key is another’s', async () => {
  const secrets = memoryServiceSecrets();
  const { certificate } = await openAuthority(memoryServiceSecrets(), 'abc123', Date.now());
  const { key } = await openAuthority(memoryServiceSecrets(), 'abc123', Date.now());
  await secrets.getOrCreate('agent authority', () => JSON.stringify({ certificate, key }));
  await expect(openAuthority(secrets, 'abc123', Date.now())).rejects.toThrow('not that of the authority');
});
