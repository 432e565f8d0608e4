/** Refusals of calls beyond an application's scopes, before MCP's own handling. */
import { beforeEach, expect, it, vi } from 'vitest';
import type { Caller } from '../../../src/model/user.ts';
import { nearest } from '../../../src/model/nearest.ts';
import { scopeRefusal } from '../../../src/surfaces/mcp/scope-refusal.ts';
import { createFakeServices, user } from '../fakes/fake-services.ts';

vi.mock(import('../../../src/model/nearest.ts'), { spy: true });

const application: Caller = { ...user, keyId: 'grant_0123456789abcdef', scopes: ['sandboxes:read'] };
const origin = { transport: 'mcp', address: null } as const;
const challenge = (needed: readonly string[]) => `Bearer scope="${needed.join(' ')}"`;

const call = (name: string) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } });
const refusalOf = (body: unknown) =>
  scopeRefusal(createFakeServices().services, { caller: application, origin, challenge }, body);

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
