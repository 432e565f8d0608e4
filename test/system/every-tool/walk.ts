/** One area's tools, each used at least once, in the only sandbox there is, which is started. */
import type { Service } from '../../support/service.ts';
import type { Parameters } from '../../support/transports.ts';

/** Calls a tool by its name without `Sandbox.`, and fails when it does. */
export type Ok = (tool: string, parameters?: Parameters) => Promise<Record<string, unknown>>;

export type Walk = (ok: Ok, service: Service) => Promise<void>;
