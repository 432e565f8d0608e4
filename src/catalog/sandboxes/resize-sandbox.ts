/** Sandbox.ResizeSandbox */
import { z } from 'zod';
import { limits } from '../../model/limits.ts';
import { sandboxText, sizedOutput, toSandboxView } from '../base/sandbox-view.ts';
import { defineTool, withoutUndefined } from '../base/tool.ts';
import { nothingToChange, sandbox } from '../parameters/sandbox.ts';
import { optionalInteger } from '../parameters/scalars.ts';

export const resizeSandbox = defineTool({
  name: 'Sandbox.ResizeSandbox',
  title: 'Resize a sandbox',
  description:
    'Changes vCPUs, memory or disk: at least one, all or nothing. Started: cpu and ' +
    'memory_gb can only grow. disk_gb never shrinks and needs a stopped sandbox (invalid_state: ' +
    'StopSandbox first).',
  input: z
    .strictObject({
      sandbox,
      cpu: optionalInteger('vCPUs', limits.cpu),
      memory_gb: optionalInteger('Memory in GB', limits.memoryGb),
      disk_gb: optionalInteger('New total disk in GB', limits.diskGb),
    })
    .check(nothingToChange('cpu', 'memory_gb', 'disk_gb')),
  output: sizedOutput,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async handler(parameters, { services, caller }) {
    const { cpu, memory_gb: memory, disk_gb: disk } = parameters;
    return toSandboxView(
      await services.sandboxes.resize(caller, parameters.sandbox, withoutUndefined({ cpu, memory, disk })),
    );
  },
  text: sandboxText,
});
