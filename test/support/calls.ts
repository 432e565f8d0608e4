/** Short ways to call one service's tools, and to run commands in its only sandbox. */
import { call, must, type Service } from './service.ts';
import type { Parameters } from './transports.ts';

export interface Calls {
  /** The result; fails when there is none. */
  ok(tool: string, parameters?: Parameters): Promise<Record<string, unknown>>;
  /** The body, which a test expects to be a refusal. */
  refused(tool: string, parameters: Parameters): Promise<Record<string, unknown>>;
  /** What the command prints; fails unless it succeeds. */
  run(command: string): Promise<string>;
}

/** @param service Asked for at each call: tests have none before their hooks have run. */
export function callsOf(service: () => Pick<Service, 'url' | 'apiKey'>): Calls {
  const ok = (tool: string, parameters: Parameters = {}) => must(service(), tool, parameters);
  return {
    ok,
    refused: async (tool, parameters) => (await call(service(), tool, parameters)).body,
    async run(command) {
      const result = await ok('RunCommand', { command });
      if (result['exit_code'] !== 0) throw new Error(`${command}: ${result['output']}`);
      return String(result['stdout']);
    },
  };
}
