/** Tools that change settings of a sandbox. */
import { z } from 'zod';
import { limits } from '../../model/limits.ts';
import { labelledOutput, sandboxText, sizedOutput, toSandboxView } from '../base/sandbox-view.ts';
import { defineTool, withoutUndefined } from '../base/tool.ts';
import { nothingToChange, sandbox } from '../parameters/sandbox.ts';
import { labels, optionalInteger } from '../parameters/scalars.ts';
import { stoppedOutput, stoppedText } from './lifecycle.ts';

export const setSandboxLabels = defineTool({
  name: 'Sandbox.SetSandboxLabels',
  title: 'Set the labels of a sandbox',
  description:
    'Replaces all labels of a sandbox; {} removes them. To add one, give the present ones too ' +
    '(GetSandbox shows them).',
  input: z.strictObject({
    sandbox,
    labels: labels().describe('All labels, as strings; at most 64.'),
  }),
  output: labelledOutput,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  async handler(parameters, { services, caller }) {
    return toSandboxView(await services.sandboxes.setLabels(caller, parameters.sandbox, parameters.labels));
  },
  text: sandboxText,
});

const max = limits.autoMinutesMax;

export const configureSandboxAuto = defineTool({
  name: 'Sandbox.ConfigureSandboxAuto',
  title: 'Configure automatic stop, archive and delete',
  description:
    'Changes after how long a sandbox stops, is archived and deleted by itself. Give at least one; ' +
    'the others stay. Activity: calls that work in it, running foreground and session commands, SSH, previews; not ' +
    'background processes, nor looking at it. auto_delete_minutes 0 deletes one that is stopped already (deleted: ' +
    'true).',
  input: z
    .strictObject({
      sandbox,
      auto_stop_minutes: optionalInteger('Idle minutes until it stops; 0: never', {
        ...limits.autoStopMinutes,
        max,
      }),
      auto_archive_minutes: optionalInteger(
        'Stopped minutes until it is archived; 0: the maximum',
        limits.autoArchiveMinutes,
      ),
      auto_delete_minutes: optionalInteger('Stopped minutes until it is deleted; 0: at the stop, -1: never', {
        ...limits.autoDeleteMinutes,
        max,
      }),
    })
    .check(nothingToChange('auto_stop_minutes', 'auto_archive_minutes', 'auto_delete_minutes')),
  output: stoppedOutput,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  async handler(parameters, { services, caller }) {
    const settings = withoutUndefined({
      autoStopMinutes: parameters.auto_stop_minutes,
      autoArchiveMinutes: parameters.auto_archive_minutes,
      autoDeleteMinutes: parameters.auto_delete_minutes,
    });
    const changed = await services.sandboxes.configure(caller, parameters.sandbox, settings);
    return { ...toSandboxView(changed.sandbox), ...(changed.deleted ? { deleted: true } : {}) };
  },
  text: stoppedText,
});

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
