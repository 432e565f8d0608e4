/** Sandbox.CreateSnapshot */
import { z } from 'zod';
import { limits } from '../../model/limits.ts';
import { defineTool, withoutUndefined } from '../base/tool.ts';
import { newName, usualUser } from '../parameters/sandbox.ts';
import { atMostBytes, textWithoutNul } from '../parameters/scalars.ts';
import { snapshotOutput, snapshotText, toSnapshotView } from './snapshots.ts';

const { entrypointWords, entrypointBytes } = limits.snapshot;

export const createSnapshotInput = z.strictObject({
  name: newName('snap_').describe('Unique name: 1-63 letters, digits, space . _ -.'),
  image: textWithoutNul()
    .min(1)
    .max(limits.imageReferenceChars)
    .describe('Container image, such as debian:13.'),
  entrypoint: z
    .array(textWithoutNul().min(1).check(atMostBytes(entrypointBytes)))
    .min(1)
    .max(entrypointWords)
    .check(({ value, issues }) => {
      const bytes = value.reduce((sum, word) => sum + Buffer.byteLength(word) + 1, 0);
      if (bytes <= entrypointBytes) return;
      const message = `must be at most ${entrypointBytes} bytes in all; it is ${bytes}`;
      issues.push({ code: 'custom', input: value, message });
    })
    .optional()
    .describe("Program and arguments, started with every sandbox; the image's own is not."),
  user: usualUser,
  resources: z
    .strictObject({
      cpu: whole(limits.cpu),
      memory: whole(limits.memoryGb),
      disk: whole(limits.diskGb),
      gpu: whole(limits.gpu),
    })
    .default({})
    .describe('Sizes; memory and disk in GB (default 2, 4, 20, 0).'),
  region_id: textWithoutNul()
    .min(1)
    .max(limits.sandboxNameChars)
    .optional()
    .describe('Region (default: the closest).'),
});

export const createSnapshot = defineTool({
  name: 'Sandbox.CreateSnapshot',
  title: 'Create a snapshot',
  description:
    'Makes a named template from a container image, for CreateSandbox with `snapshot`. Answers at once ' +
    'with state pending; call GetSnapshot until it is active (minutes for a large image) or in error. ' +
    'already_exists: take another name; one in error is replaced.',
  input: createSnapshotInput,
  output: snapshotOutput,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  idempotencyKey: true,
  async handler(parameters, { services, caller, idempotencyKey }) {
    const { name, image, entrypoint, user, resources, region_id } = parameters;
    const request = {
      name,
      image,
      resources: withoutUndefined(resources),
      ...withoutUndefined({ entrypoint, user, regionId: region_id }),
    };
    return toSnapshotView(await services.snapshots.create(caller, request, idempotencyKey));
  },
  text: snapshotText,
});

function whole({ min, max }: { min: number; max: number }) {
  return z.int().min(min).max(max).optional();
}
