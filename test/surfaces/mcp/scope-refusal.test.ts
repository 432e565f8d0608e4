/** Refusals of calls beyond an application's scopes, before MCP's own handling. */
import { beforeEach, expect, it, vi } from 'vitest';
import { nearest } from '../../../src/model/nearest.ts';
import type { Caller } from '../../../src/model/user.ts';
import { scopeRefusal } from '../../../src/surfaces/mcp/endpoint.ts';
import { fakePeople } from '../fakes/fake-people.ts';
import { createFakeServices, user } from '../fakes/fake-services.ts';

vi.mock(import('../../../src/model/nearest.ts'), { spy: true });

const application: Caller = { ...user, keyId: 'grant_0123456789abcdef', scopes: ['sandboxes:read'] };
const origin = { transport: 'mcp', address: null } as const;
const challenge = (needed: readonly string[]) => `Bearer scope="${needed.join(' ')}"`;

const call = (name: string) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } });
const refusalOf = (body: unknown, services = createFakeServices().services) =>
  scopeRefusal(services, { caller: application, origin, challenge }, body);

beforeEach(() => {
  vi.mocked(nearest).mockClear();
});

it('looks a tool up without looking for similar names, however many a batch has', async () => {
  const batch = Array.from({ length: 140 }, (_, at) => call(`Sandbox_CreateSandbax${at}`));
  expect(await refusalOf(batch)).toBeNull();
  expect(nearest).not.toHaveBeenCalled();
});

it('finds the one call beyond the scopes among unknown ones', async () => {
  const refusal = await refusalOf([call('Sandbox_Nothing'), call('Sandbox_CreateSandbox')]);
  expect(refusal?.status).toBe(403);
});

it('counts each refusal, and above the rate writes none into the audit log', async () => {
  const services = {
    ...createFakeServices().services,
    ...fakePeople({ rate: { perSecond: 0.001, burst: 2 } }),
  };
  const create = call('Sandbox_CreateSandbox');
  for (const status of [403, 403]) expect((await refusalOf(create, services))?.status).toBe(status);
  await expect(refusalOf(create, services)).rejects.toMatchObject({ code: 'resource_exhausted' });
  const { rows } = await services.audit.list({ filter: {}, limit: 10 }, 0);
  expect(rows).toHaveLength(2);
});
