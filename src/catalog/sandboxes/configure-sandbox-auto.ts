/** Sandbox.ConfigureSandboxAuto */
import { z } from 'zod';
import { limits } from '../../model/limits.ts';
import { toSandboxView } from '../base/sandbox-view.ts';
import { defineTool, withoutUndefined } from '../base/tool.ts';
import { nothingToChange, sandbox } from '../parameters/sandbox.ts';
import { optionalInteger } from '../parameters/scalars.ts';
import { stoppedOutput, stoppedText } from './lifecycle.ts';

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
