/** The sandbox that a request is about, before and after a tool has changed it. */
import { type ShownSandbox, toSandbox } from '../answers/sandbox.ts';
import type { DaytonaCall } from '../base/call.ts';

/** @param reference By default the one in the path. */
export async function shown(call: DaytonaCall, reference = call.params['sandbox']): Promise<ShownSandbox> {
  const view = await call.tool('Sandbox.GetSandbox', { sandbox: reference, include_raw_env_vars: true });
  return view as unknown as ShownSandbox;
}

export async function answer(call: DaytonaCall, reference?: string): Promise<Record<string, unknown>> {
  return toSandbox(await shown(call, reference), call);
}

/**
 * Calls a tool that changes the sandbox, and answers it as it is then. No such tool shows the network and the environment, and
 * after a deletion nothing does, so these come from before.
 */
export async function changed(
  call: DaytonaCall,
  tool: string,
  parameters: Record<string, unknown> = {},
): Promise<Record<string, unknown>> {
  const before = await shown(call);
  const after = await call.tool(tool, { sandbox: before.id, ...parameters });
  // A view leaves out what there is none of.
  const { operation, state_reason, ...lasting } = before;
  return toSandbox({ ...lasting, ...after } as ShownSandbox, call);
}
