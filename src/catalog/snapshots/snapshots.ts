/** Snapshots as tools show them, and the tools that show them. */
import { z } from 'zod';
import { isBuildId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import { type Snapshot, snapshotStates } from '../../model/snapshot.ts';
import { networkOutput, timestamp, toNetworkView } from '../base/sandbox-view.ts';
import { defineTool } from '../base/tool.ts';
import { pageOf, pageOutput, pageParameters, pageText } from '../parameters/pagination.ts';
import { textWithoutNul } from '../parameters/scalars.ts';

/** Left out of MCP's list: a model needs a snapshot's state, image and sizes. */
const unlisted = { unlisted: true };

export const snapshotOutput = z.looseObject({
  id: z.string(),
  name: z.string(),
  state: z.enum(snapshotStates),
  state_reason: z.string().optional(),
  image: z.string(),
  entrypoint: z.array(z.string()).nullable(),
  resources: z.looseObject({ cpu: z.int(), memory: z.int(), disk: z.int(), gpu: z.int() }),
  region_id: z.string().meta(unlisted),
  size_bytes: z.int().nullable(),
  created_at: z.string().meta(unlisted),
  updated_at: z.string().meta(unlisted),
  network: networkOutput
    .optional()
    .meta(unlisted)
    .describe('Of sandboxes created from it that ask for none; absent for the usual one.'),
  user: z
    .string()
    .optional()
    .meta(unlisted)
    .describe('Linux user of sandboxes created from it; absent for root.'),
  source: z
    .looseObject({ id: z.string(), name: z.string() })
    .optional()
    .meta(unlisted)
    .describe('The sandbox, or the build, whose disk it has; absent for one of an image.'),
  env: z.record(z.string(), z.string()).optional().meta(unlisted),
  workdir: z.string().optional().meta(unlisted),
});

type SnapshotView = z.output<typeof snapshotOutput>;

export function toSnapshotView(snapshot: Snapshot): SnapshotView {
  return {
    id: snapshot.id,
    name: snapshot.name,
    state: snapshot.state,
    ...(snapshot.stateReason === null ? {} : { state_reason: snapshot.stateReason }),
    image: snapshot.image,
    entrypoint: snapshot.entrypoint,
    resources: { ...snapshot.resources },
    region_id: snapshot.regionId,
    size_bytes: snapshot.sizeBytes,
    created_at: timestamp(snapshot.createdAt),
    updated_at: timestamp(snapshot.updatedAt),
    ...(snapshot.network === null ? {} : { network: toNetworkView(snapshot.network) }),
    ...(snapshot.user === null ? {} : { user: snapshot.user }),
    ...(snapshot.source === null ? {} : { source: { ...snapshot.source } }),
    ...(snapshot.imageConfig === null
      ? {}
      : { env: snapshot.imageConfig.env, workdir: snapshot.imageConfig.workdir }),
  };
}

/** Returns one line for people. */
export function snapshotText(view: SnapshotView): string {
  const { id, name, state, state_reason, image, entrypoint, size_bytes, created_at, network, user, source } =
    view;
  const { cpu, memory, disk, gpu } = view.resources;
  const parts = [
    ...(source
      ? [isBuildId(source.id) ? `built from '${source.name}'` : `disk of sandbox '${source.name}'`]
      : []),
    `image ${image}`,
    ...(size_bytes === null ? [] : [`${size_bytes} bytes`]),
    `${cpu} vCPU, ${memory} GB memory, ${disk} GB disk${gpu > 0 ? `, ${gpu} GPU` : ''}`,
    entrypoint === null ? 'no entrypoint' : `entrypoint ${JSON.stringify(entrypoint)}`,
    ...(network ? [`network ${network.mode}`] : []),
    ...(user ? [`Linux user ${user}`] : []),
  ];
  const reason = state_reason ? ` Reason: ${state_reason}` : '';
  return `Snapshot '${name}' (${id}) is ${state}: ${parts.join(', ')}. Created ${created_at}.${reason}`;
}

export const getSnapshot = defineTool({
  name: 'Sandbox.GetSnapshot',
  title: 'Get a snapshot',
  description:
    'Shows one snapshot: state (pending, pulling, active or error, with state_reason), image, ' +
    'resources, entrypoint and size.',
  input: z.strictObject({
    snapshot: textWithoutNul().min(1).max(limits.sandboxNameChars).describe('Snapshot name or ID.'),
  }),
  output: snapshotOutput,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async handler({ snapshot }, { services, caller }) {
    return toSnapshotView(await services.snapshots.get(caller, snapshot));
  },
  text: snapshotText,
});

export const listSnapshots = defineTool({
  name: 'Sandbox.ListSnapshots',
  title: 'List snapshots',
  description: 'Lists your snapshots, newest first, and last the base image as "base".',
  input: z.strictObject({ ...pageParameters }),
  output: z.looseObject({ snapshots: z.array(snapshotOutput), ...pageOutput }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async handler(parameters, { services, caller }) {
    const { page, page_size: pageSize } = parameters;
    const { snapshots, totalCount } = await services.snapshots.list(caller, { page, pageSize });
    return { snapshots: snapshots.map(toSnapshotView), ...pageOf(totalCount, parameters) };
  },
  text: ({ snapshots, ...page }) =>
    [pageText(page, ['snapshot', 'snapshots']), ...snapshots.map((view) => `- ${snapshotText(view)}`)].join(
      '\n',
    ),
});
