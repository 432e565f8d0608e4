/** Sandbox.StartSandbox, StopSandbox, ArchiveSandbox, DeleteSandbox */
import { z } from 'zod';
import { type SandboxView, sandboxOutput, sandboxText, toSandboxView } from '../base/sandbox-view.ts';
import { defineTool } from '../base/tool.ts';
import { sandbox } from '../parameters/sandbox.ts';

const input = z.strictObject({ sandbox });

/** Result of a stop, which may also delete the sandbox. */
export const stoppedOutput = sandboxOutput.extend({ deleted: z.boolean().optional() });

export function stoppedText(view: SandboxView & { deleted?: boolean | undefined }): string {
  return view.deleted ? `Sandbox '${view.name}' (${view.id}) was deleted.` : sandboxText(view);
}

export const startSandbox = defineTool({
  name: 'Sandbox.StartSandbox',
  title: 'Start a sandbox',
  description:
    'Starts a stopped or archived (slower) sandbox, or retries one in error. Files are as they were, ' +
    'processes are gone.',
  input,
  output: sandboxOutput,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  long: true,
  async handler(parameters, { services, caller }) {
    return toSandboxView(await services.sandboxes.start(caller, parameters.sandbox));
  },
  text: sandboxText,
});

export const stopSandbox = defineTool({
  name: 'Sandbox.StopSandbox',
  title: 'Stop a sandbox',
  description:
    'Stops a sandbox: processes end, files stay. One that is ephemeral or has auto_delete_minutes 0 is ' +
    'deleted with it (deleted: true).',
  input,
  output: stoppedOutput,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  long: true,
  async handler(parameters, { services, caller }) {
    const stopped = await services.sandboxes.stop(caller, parameters.sandbox);
    return { ...toSandboxView(stopped.sandbox), ...(stopped.deleted ? { deleted: true } : {}) };
  },
  text: stoppedText,
});

export const archiveSandbox = defineTool({
  name: 'Sandbox.ArchiveSandbox',
  title: 'Archive a sandbox',
  description:
    'Compresses a stopped sandbox to save storage; StartSandbox brings it back. invalid_state: call ' +
    'StopSandbox first.',
  input,
  output: sandboxOutput,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  long: true,
  async handler(parameters, { services, caller }) {
    return toSandboxView(await services.sandboxes.archive(caller, parameters.sandbox));
  },
  text: sandboxText,
});

export const deleteSandbox = defineTool({
  name: 'Sandbox.DeleteSandbox',
  title: 'Delete a sandbox',
  description: 'Deletes a sandbox and everything in it, for good, from any state.',
  input,
  output: z.looseObject({ id: z.string(), name: z.string(), deleted: z.boolean() }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  async handler(parameters, { services, caller }) {
    return { ...(await services.sandboxes.delete(caller, parameters.sandbox)), deleted: true };
  },
  text: ({ id, name }) => `Sandbox '${name}' (${id}) was deleted.`,
});
