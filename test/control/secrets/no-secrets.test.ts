/** Secrets on an engine that puts none into requests, as Kubernetes does not. */
import { expect, it } from 'vitest';
import { SandboxTrust } from '../../../src/control/reach/sandbox-trust.ts';
import { SandboxSecrets } from '../../../src/control/secrets/sandbox-secrets.ts';
import { SecretService } from '../../../src/control/secrets/secret-service.ts';
import { secretRecord } from '../../store/conformance/secret-conformance.ts';
import { alice, sandboxRecord } from '../../store/fixtures.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';

const { secrets: store, sandboxes } = memoryStore();
const untouched = {} as never;
const runtime = { capabilities: { secrets: false } as never, authority: () => null };
const service = new SecretService({ store, runtime, running: untouched, provider: null, clock: Date });
const ofSandboxes = new SandboxSecrets({
  ...{ store, sandboxes, runtime, trust: untouched, machines: untouched, networks: untouched },
});
const refused = { code: 'failed_precondition' };

it('none is created, and no sandbox is given one', async () => {
  await store.insert(secretRecord(), 'the value');
  const request = { name: 'a', value: 'the value', targets: ['https://api.example.com'], place: 'bearer' };
  const created = service.create(alice, { ...request, variable: undefined, expiresInMinutes: 0 });
  await expect(created).rejects.toMatchObject(refused);
  await expect(ofSandboxes.accept(alice, ['stripe'])).rejects.toMatchObject({
    ...refused,
    fields: { parameter: 'secrets' },
  });
  await expect(ofSandboxes.give(alice, 'box', 'stripe')).rejects.toMatchObject(refused);
  expect(await ofSandboxes.accept(alice, undefined)).toEqual([]);
  expect(await ofSandboxes.accept(alice, [])).toEqual([]);
});

it('those of an earlier engine are listed, and a machine trusts no certificate', async () => {
  expect(await service.list(alice)).toMatchObject([{ name: 'stripe' }]);
  const engine = { runtime, agent: untouched, inTurn: untouched, networks: untouched };
  await new SandboxTrust({ ...engine, unfinished: untouched, log: untouched }).put(
    sandboxRecord({ secretIds: ['se_1'] }),
  );
});
