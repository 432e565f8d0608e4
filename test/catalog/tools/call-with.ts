/** Calls of one tool over a service with one answer: what the tool asks for, and what it makes of the answer. */

import type { CallContext } from '../../../src/catalog/base/tool.ts';
import { callTool, findTool } from '../../../src/catalog/call.ts';
import { user } from '../../surfaces/fakes/fake-services.ts';

export const { signal } = new AbortController();
export const progress = () => {};
export { user };

export interface Called {
  result: Record<string, unknown>;
  /** Arguments of the service's method, without the caller. */
  asked: unknown[];
  text: string;
}

/**
 * @param method Such as `files.read`.
 * @param answer An answer, or a function of the arguments that gives one.
 */
export async function callWith(
  tool: string,
  parameters: object,
  method: string,
  answer: unknown,
  context: Partial<CallContext> = {},
): Promise<Called> {
  const name = tool.includes('.') ? tool : `Sandbox.${tool}`;
  const [service = '', called = ''] = method.split('.');
  let asked: unknown[] = [];
  const services = {
    audit: { call: (_: unknown, work: () => Promise<unknown>) => work() },
    sandboxSecrets: { of: async () => [] },
    [service]: {
      [called]: async (...given: unknown[]) => {
        asked = given[0] === user ? given.slice(1) : given;
        return typeof answer === 'function' ? answer(...given) : answer;
      },
    },
  } as unknown as CallContext['services'];
  const result = await callTool(name, parameters, {
    ...{ caller: user, services, requestId: 'req_1', signal, progress },
    ...{ origin: { transport: 'http', address: null } },
    ...context,
  });
  return { result, asked, text: findTool(name).text?.(result) ?? '' };
}

export function printed(tool: string, result: Record<string, unknown>): string | undefined {
  return findTool(`Sandbox.${tool}`).printed?.(result);
}
