/** Networks of sandboxes over a whole control layer: at a claim, over restarts, in the audit log and for followers. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { callAction } from '../../../src/administration/call.ts';
import type { CreateRequest } from '../../../src/control/lifecycle/creation.ts';
import { noNetwork, parseNetworkText } from '../../../src/model/network/setting.ts';
import { alice } from '../../store/fixtures.ts';
import { type Control, Installation, rulesOf } from './service-of-networks.ts';

const request: CreateRequest = {
  ...{ language: 'python', envVars: {}, labels: {}, autoStopMinutes: 0, ephemeral: false },
  ...{ cpu: 2, memory: 4, disk: 20, gpu: 0 },
};
const onlyA = { allow: ['https://a.example.com'] };

let installation: Installation;
let service: Control;

beforeEach(async () => {
  installation = new Installation();
  await installation.enrol();
  service = installation.open();
  await service.reconcile();
});

afterEach(() => service.close());

/** Begins anew over what the last process left; that one does nothing any more. */
async function restart(options: Parameters<Installation['open']>[0] = {}): Promise<void> {
  service = installation.open(options);
  await service.reconcile();
}

const create = (more: Partial<CreateRequest> = {}) =>
  service.services.sandboxes.create(alice, { ...request, ...more });
const inForce = (id: string) => installation.inForce(id);

describe('a network', () => {
  it('is in force before its machine starts, and at each later start', async () => {
    const seen: unknown[] = [];
    installation.point = async (label) => {
      if (label === 'engine: launch')
        seen.push([...installation.host.networks.values()].map(({ mode }) => mode));
    };
    const { id } = await create({ network: onlyA });
    await service.services.sandboxes.stop(alice, id);
    expect(inForce(id)).toBeNull();
    await service.services.networks.set(alice, id, 'none');
    expect(inForce(id)).toBeNull();
    await service.services.sandboxes.start(alice, id);
    expect([seen, inForce(id)]).toEqual([[['rules'], ['none']], 'none']);
  });

  it('that learns is what is set again after a restart', async () => {
    const { id } = await create({ network: onlyA });
    await service.services.learning.start(alice, id, 10);
    expect(inForce(id)).toBe('learn');
    await service.services.sandboxes.stop(alice, id);
    await service.services.sandboxes.start(alice, id);
    expect(inForce(id)).toBe('learn');
    await restart();
    expect(inForce(id)).toBe('https://a.example.com');
  });

  it('is in force again before a restarted service is ready', async () => {
    const [open, closed, ruled] = [
      await create(),
      await create({ network: 'none' }),
      await create({ network: onlyA }),
    ];
    await restart();
    expect([open, closed, ruled].map(({ id }) => inForce(id))).toEqual([
      'open',
      'none',
      'https://a.example.com',
    ]);
  });

  it('is in force again for a machine whose operation a kill broke off', async () => {
    const sandbox = await create({ network: onlyA });
    await installation.store.sandboxes.update(sandbox.id, sandbox.generation, {
      ...{ operation: 'resizing', resizeTarget: { cpu: 1, memory: 2, disk: 20, gpu: 0 } },
    });
    await restart();
    expect(inForce(sandbox.id)).toBe('https://a.example.com');
  });

  it('that was stored, and not put in force before a kill, is in force after the restart', async () => {
    const { id, generation } = await create();
    await installation.store.sandboxes.update(id, generation, { network: rulesOf('tcp://203.0.113.7:22') });
    await restart();
    expect(inForce(id)).toBe('tcp://203.0.113.7:22');
  });

  it('is narrowed by a ceiling from the next start of the service on', async () => {
    const { id } = await create({ network: onlyA });
    const other = await create();
    await restart({ mostNetwork: parseNetworkText('most', 'https://*.example.com:443-500') });
    expect([inForce(id), inForce(other.id)]).toEqual([
      'https://a.example.com',
      'https://*.example.com:443-500',
    ]);
    await restart({ mostNetwork: noNetwork });
    expect([inForce(id), inForce(other.id)]).toEqual(['none', 'none']);
    await restart();
    expect([inForce(id), inForce(other.id)]).toEqual(['https://a.example.com', 'open']);
  });
});

describe('a sandbox of the warm pool', () => {
  const pooled = async (options: Parameters<Installation['open']>[0] = {}) => {
    await restart({ warmPool: { min: 1, max: 1 }, ...options });
    service.pool.refill(0);
    const found = () => installation.store.sandboxes.pool();
    await vi.waitFor(async () => expect(await found()).toHaveLength(1));
    return (await found())[0]?.id ?? '';
  };

  it.each([
    ['the usual one', undefined, 'open'],
    ['none', 'none', 'none'],
    ['rules', onlyA, 'https://a.example.com'],
  ] as const)(
    'has the network of its claim in force when its caller gets it: %s',
    async (_, network, expected) => {
      const id = await pooled();
      expect(inForce(id)).toBe('open');
      const made = await create(network === undefined ? {} : { network: structuredClone(network) as never });
      expect([made.id, inForce(id)]).toEqual([id, expected]);
    },
  );

  it('is another one where the engine fails at the claim', async () => {
    const id = await pooled();
    let failures = 1;
    installation.point = async (label) => {
      if (label === 'engine: put the network in force' && failures-- > 0) throw new Error('no');
    };
    const made = await create({ network: onlyA });
    expect(made.id).not.toBe(id);
    expect(inForce(made.id)).toBe('https://a.example.com');
    expect(installation.host.running(id)).toBeNull();
  });

  it('goes at a restart with another usual network', async () => {
    const id = await pooled();
    const next = await pooled({ defaultNetwork: noNetwork });
    expect(next).not.toBe(id);
    expect([inForce(next), installation.host.sandboxes.has(id)]).toEqual(['none', false]);
    expect(await create()).toMatchObject({ id: next, network: noNetwork });
  });
});

describe('a change of a network', () => {
  const act = (name: string, parameters: object) =>
    callAction(name, parameters, {
      caller: { ...alice, keyId: 'key_1', scopes: null } as never,
      services: service.services,
      requestId: 'req_1',
      origin: { transport: 'http', address: null },
      signal: new AbortController().signal,
    });

  it('leaves an audit row with its sandbox, also one that fails', async () => {
    const { id } = await create();
    await act('SetNetwork', { sandbox: id, network: 'none' });
    installation.point = async () => Promise.reject(new Error('no'));
    await expect(act('AllowNetwork', { sandbox: id, rules: ['git'] })).rejects.toMatchObject({
      code: 'unavailable',
    });
    const { rows } = await installation.audit.list({ filter: {}, limit: 10 }, 0);
    expect(rows.map(({ action, sandboxId, outcome }) => [action, sandboxId, outcome])).toEqual([
      ['SetNetwork', id, 'ok'],
      ['AllowNetwork', id, 'unavailable'],
    ]);
  });

  it('is heard by those who follow the sandbox', async () => {
    const { id } = await create();
    const changed: unknown[] = [];
    const end = await service.services.events.follow(alice, {
      changed: ({ network }) => void changed.push(network),
      gone() {},
      refresh() {},
    });
    await act('SetNetwork', { sandbox: id, network: 'none' });
    await vi.waitFor(() => expect(changed).toEqual([noNetwork]));
    end();
  });
});
