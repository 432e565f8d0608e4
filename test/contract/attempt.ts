/** Calls a tool by its name, over services that note each call. */

import type { CallContext } from '../../src/catalog/base/tool.ts';
import { callTool } from '../../src/catalog/call.ts';
import type { Services } from '../../src/control/services.ts';
import { SandhavenError } from '../../src/model/errors.ts';
import { createFakeServices, user } from '../surfaces/fakes/fake-services.ts';

export interface Reached {
  /** `sandboxes.create` */
  method: string;
  given: unknown[];
}

export interface Attempt {
  /** Calls of services in their order. */
  reached: Reached[];
  /** Result or refusal. The services in memory refuse sandboxes and files that they do not have. */
  answer: Record<string, unknown> | SandhavenError;
}

export async function attempt(
  name: string,
  parameters: Record<string, unknown>,
  { services } = createFakeServices(),
): Promise<Attempt> {
  const reached: Reached[] = [];
  const context: CallContext = {
    caller: user,
    services: noting(services, reached),
    requestId: 'req_1',
    origin: { transport: 'http', address: null },
    signal: new AbortController().signal,
    progress: () => {},
  };
  const answer = await callTool(name, parameters, context).catch((error: unknown) => {
    if (error instanceof SandhavenError) return error;
    throw error;
  });
  return { reached, answer };
}

/** Leaves out the audit log: refused calls go through it too. */
function noting(services: Services, reached: Reached[]): Services {
  const noted = Object.entries(services).map(([name, service]) => [
    name,
    name === 'audit' || typeof service !== 'object' || service === null
      ? service
      : notingCalls(name, service, reached),
  ]);
  return Object.fromEntries(noted) as Services;
}

function notingCalls(name: string, service: object, reached: Reached[]): object {
  return new Proxy(service, {
    get(target, key) {
      const method: unknown = Reflect.get(target, key);
      if (typeof method !== 'function') return method;
      return (...given: unknown[]) => {
        reached.push({ method: `${name}.${String(key)}`, given });
        return method.apply(target, given);
      };
    },
  });
}
