/** Sandbox.CreateSandbox */
import { z } from 'zod';
import { limits } from '../../model/limits.ts';
import { languages } from '../../model/sandbox.ts';
import {
  sandboxText,
  sizedOutput,
  toNetworkView,
  toSandboxView,
  toSecretsView,
} from '../base/sandbox-view.ts';
import { defineTool, withoutUndefined } from '../base/tool.ts';
import { network, secretReferences } from '../parameters/network.ts';
import { newName, usualUser } from '../parameters/sandbox.ts';
import { environment, integerWithDefault, labels, textWithoutNul } from '../parameters/scalars.ts';

export const createSandboxInput = z
  .strictObject({
    name: newName('sb_')
      .optional()
      .describe('Unique name: 1-63 letters, digits, space . _ - (default: generated).'),
    language: z
      .enum(languages)
      .default('python')
      .describe('What RunCode runs, fixed for good (default python).'),
    snapshot: reference('Snapshot name or ID; excludes image, ignores cpu to gpu.'),
    image: reference('Container image, such as debian:13; excludes snapshot (default: base).'),
    env_vars: environment()
      .default({})
      .meta({ description: 'Environment variables, as strings (default: none).', sensitive: true }),
    user: usualUser,
    auto_stop_minutes: integerWithDefault('Idle minutes until it stops; 0: never', {
      ...limits.autoStopMinutes,
      max: limits.autoMinutesMax,
    }),
    cpu: integerWithDefault('vCPUs', limits.cpu),
    memory_gb: integerWithDefault('Memory in GB', limits.memoryGb),
    disk_gb: integerWithDefault('Disk in GB', limits.diskGb),
    gpu: integerWithDefault('GPUs', limits.gpu),
    labels: labels().default({}).describe('Labels, as strings (default: none).'),
    network: network()
      .optional()
      .describe('Rules like https://api.example.com; profiles packages, git, llm.'),
    secrets: secretReferences().optional().describe('Secrets it may use, by name.'),
    ephemeral: z.boolean().default(false).describe('Delete it when it stops (default false).'),
  })
  .check(({ value, issues }) => {
    if (value.snapshot === undefined || value.image === undefined) return;
    const message = 'and image are mutually exclusive; give one of them, or neither for the base image';
    issues.push({ code: 'custom', path: ['snapshot'], input: value, message });
  });

export const createSandbox = defineTool({
  name: 'Sandbox.CreateSandbox',
  title: 'Create a sandbox',
  description:
    'Creates an isolated Linux machine, ready at once. Without snapshot and image it is Debian 13 with Python 3.13 ' +
    '(numpy, pandas, matplotlib, requests, pytest), Node 24, git, curl, ripgrep and build tools. ' +
    'already_exists: take another name. resource_exhausted: delete or stop one.',
  input: createSandboxInput,
  output: sizedOutput,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  long: true,
  idempotencyKey: true,
  async handler(parameters, { services, caller, progress, idempotencyKey, sandboxId }) {
    const { env_vars, auto_stop_minutes, memory_gb, disk_gb, ...rest } = parameters;
    const request = {
      ...withoutUndefined({ ...rest, id: sandboxId }),
      envVars: env_vars,
      autoStopMinutes: auto_stop_minutes,
      memory: memory_gb,
      disk: disk_gb,
    };
    const options = { onProgress: progress, ...withoutUndefined({ idempotencyKey }) };
    const created = await services.sandboxes.create(caller, request, options);
    const { ownerId, secretIds } = created;
    const secrets = toSecretsView(await services.sandboxSecrets.of({ ownerId, secretIds }));
    return { ...toSandboxView(created), network: toNetworkView(created.network), secrets };
  },
  text: sandboxText,
});

function reference(about: string) {
  return textWithoutNul().min(1).max(limits.imageReferenceChars).optional().describe(about);
}
