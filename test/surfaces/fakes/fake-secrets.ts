/** Secrets of the sandboxes in memory: the services as they are, over an engine that takes everything. */
import type { Machines } from '../../../src/control/lifecycle/machines.ts';
import { RunningSandboxes } from '../../../src/control/network/running-sandboxes.ts';
import type { SandboxStore } from '../../../src/control/ports/index.ts';
import { ProviderSecrets } from '../../../src/control/secrets/provider-secrets.ts';
import { SandboxSecrets } from '../../../src/control/secrets/sandbox-secrets.ts';
import { SecretService } from '../../../src/control/secrets/secret-service.ts';
import type { Services } from '../../../src/control/services.ts';
import { notFound } from '../../../src/model/errors.ts';
import type { Authorization } from '../../../src/model/provider.ts';
import type { Sandbox } from '../../../src/model/sandbox.ts';
import { memorySecrets } from '../../store/memory/memory-secrets.ts';
import { gitHubAt } from '../../support/code-host/hosts-at.ts';

export function fakeSecrets(
  sandboxes: Map<string, Sandbox>,
): Pick<Services, 'secrets' | 'sandboxSecrets' | 'providerSecrets'> {
  const machines: Pick<Machines, 'change'> = {
    async change(id, patch, then) {
      const sandbox = sandboxes.get(id);
      if (!sandbox) throw notFound('sandbox', 'gone');
      Object.assign(sandbox, patch(sandbox));
      await then?.(sandbox, new AbortController().signal);
      return sandbox;
    },
  };
  const find = async (ownerId: string, wanted: string) =>
    [...sandboxes.values()].find((row) => row.ownerId === ownerId && [row.id, row.name].includes(wanted)) ??
    null;
  const store = memorySecrets(sandboxes);
  const runtime = { capabilities: { secrets: true } as never };
  const networks = { apply: async () => {} };
  const unfinished = { add() {} };
  const log = { info() {}, warn() {}, error() {} };
  const running = new RunningSandboxes({ machines, networks, unfinished, log });
  return {
    secrets: new SecretService({ store, runtime, running, provider: null, clock: Date }),
    providerSecrets: new ProviderSecrets({
      ...{ store, runtime, clock: Date },
      host: gitHubAt(),
      tokens: { current: async () => ({}) as Authorization },
      refusals: { notAuthorized: neverAsked },
      resolve: async () => ['203.0.114.3'],
    }),
    sandboxSecrets: new SandboxSecrets({
      ...{ store, runtime, machines, networks, trust: { apply: async () => {} } },
      sandboxes: { find } as unknown as SandboxStore,
    }),
  };
}

function neverAsked(): never {
  throw new Error('this is never asked for');
}
