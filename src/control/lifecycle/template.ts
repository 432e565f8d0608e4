/** Template of a new sandbox: the base image, a container image, or a snapshot. */
import { notFound, SandhavenError } from '../../model/errors.ts';
import type { Resources, Sandbox } from '../../model/sandbox.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import { ownerIdOf, type User } from '../../model/user.ts';
import { BASE_IMAGE, defaultResources, isBase } from '../base/base-image.ts';
import type { SnapshotStore } from '../ports/index.ts';

/** Fields of a request that choose the template. */
export interface TemplateRequest extends Resources {
  snapshot?: string;
  image?: string;
}

export interface Template
  extends Pick<Sandbox, 'snapshot' | 'image' | 'entrypoint' | 'user' | 'imageConfig'> {
  wanted: { reference: string } | { digest: string };
  resources: Resources;
  /** null: the owner's usual one. */
  network: Snapshot['network'];
  /** Id of the captured disk that the sandbox's is made from; null for an empty one. */
  captureId: string | null;
}

/**
 * Rejects with `not_found` or `invalid_state` for a snapshot, with `invalid_argument` for both an image and a snapshot.
 */
export async function templateOf(
  store: Pick<SnapshotStore, 'find'>,
  caller: User,
  request: TemplateRequest,
): Promise<Template> {
  const { snapshot: wanted, image = BASE_IMAGE } = request;
  if (wanted === undefined) {
    const { cpu, memory, disk, gpu } = request;
    const resources = { cpu, memory, disk, gpu };
    return {
      wanted: { reference: image },
      snapshot: null,
      image,
      entrypoint: null,
      resources,
      user: null,
      imageConfig: null,
      network: null,
      captureId: null,
    };
  }
  if (request.image !== undefined) throw bothGiven();
  if (isBase(wanted)) {
    const resources = defaultResources;
    const base = { snapshot: BASE_IMAGE, image: BASE_IMAGE, entrypoint: null, user: null, imageConfig: null };
    return { wanted: { reference: BASE_IMAGE }, ...base, resources, network: null, captureId: null };
  }
  const snapshot = await store.find(ownerIdOf(caller), wanted);
  if (!snapshot) {
    throw notFound(
      'snapshot',
      `There is no snapshot '${wanted}'.`,
      "Call Sandbox.ListSnapshots to see the ones there are; 'base' is always there.",
    );
  }
  const { name, image: reference, imageDigest, entrypoint, user, imageConfig, resources, network } = snapshot;
  if (snapshot.state !== 'active' || imageDigest === null) throw notActive(snapshot);
  const wantedImage = { digest: imageDigest };
  const captureId = snapshot.source === null ? null : snapshot.id;
  const settings = { entrypoint, user, imageConfig, resources, network, captureId };
  return { wanted: wantedImage, snapshot: name, image: reference, ...settings };
}

function bothGiven(): SandhavenError {
  return new SandhavenError(
    'invalid_argument',
    'snapshot and image are mutually exclusive; both were given.',
    {
      parameter: 'snapshot',
      hint: 'Give one of them, or neither for the standard base image.',
    },
  );
}

function notActive({ name, state, stateReason }: Snapshot): SandhavenError {
  const failed = state === 'error';
  const detail = failed
    ? `Snapshot '${name}' is in error: ${stateReason ?? 'it could not be made.'}`
    : `Snapshot '${name}' is ${state}; it must be active.`;
  return new SandhavenError('invalid_state', detail, {
    parameter: 'snapshot',
    hint: failed
      ? 'Call Sandbox.CreateSnapshot with the same name to try again.'
      : 'Call Sandbox.GetSnapshot until it is active, then try again.',
    retryable: !failed,
  });
}
