/** Beginnings of stages: an image, a snapshot of the owner, or the end of an earlier stage. */
import { createHash } from 'node:crypto';
import { limits } from '../../model/limits.ts';
import type { ImageConfig, Resources } from '../../model/sandbox.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import { ownerIdOf, type User } from '../../model/user.ts';
import { BASE_IMAGE, defaultResources, isBase } from '../base/base-image.ts';
import { templateOf } from '../lifecycle/template.ts';
import type { Image, Images, SnapshotStore } from '../ports/index.ts';
import type { Settings } from './interpret.ts';
import { atLine } from './words.ts';

export interface Base {
  image: Image;
  /** The image as callers know it. */
  reference: string;
  /** null: nothing but the image. */
  captureId: string | null;
  /** Names what the disk has. */
  key: string;
  resources: Resources;
  network: Snapshot['network'];
  settings: Settings;
}

export interface BaseDependencies {
  snapshots: Pick<SnapshotStore, 'find'>;
  images: Pick<Images, 'ensure' | 'get'>;
}

const SHELL = ['/bin/sh', '-c'];

/** Rejects with what the image or snapshot is refused with, beside the line. */
export async function baseOf(
  { snapshots, images }: BaseDependencies,
  caller: User,
  { reference, line, signal }: { reference: string; line: number; signal: AbortSignal },
): Promise<Base> {
  if (reference === 'scratch')
    throw atLine(
      line,
      'FROM scratch is not taken: a sandbox needs a shell to work with.',
      "Begin with a small image, or with 'base'.",
    );
  const owner = ownerIdOf(caller);
  const snapshot = isBase(reference) ? null : await snapshots.find(owner, reference);
  if (!snapshot || (snapshot.source === null && snapshot.imageDigest === null)) {
    const image = await images.ensure(isBase(reference) ? BASE_IMAGE : reference, { owner, signal });
    return {
      ...{ image, reference, captureId: null, network: null, resources: defaultResources },
      key: keyOf('image', image.digest),
      settings: settingsOf(new Map(Object.entries(image.env)), image.workingDir || '/'),
    };
  }
  const template = await templateOf(snapshots, caller, { ...noSizes, snapshot: snapshot.id });
  const image = 'digest' in template.wanted ? await images.get(template.wanted.digest) : null;
  if (!image)
    throw atLine(
      line,
      `the image of snapshot '${reference}' is no longer on this host.`,
      'Make the snapshot anew.',
    );
  const { captureId, resources, network, entrypoint, user, imageConfig } = template;
  const env = new Map(Object.entries({ ...image.env, ...imageConfig?.env }));
  const settings = settingsOf(env, imageConfig?.workdir ?? (image.workingDir || '/'));
  return {
    ...{ image, reference: template.image, captureId, network, resources },
    key: captureId === null ? keyOf('image', image.digest) : keyOf('snapshot', captureId),
    settings: { ...settings, user, entrypoint, ...(imageConfig ? inherited(imageConfig) : {}) },
  };
}

/** Returns a name for what these say: the same for the same alone. */
export function keyOf(...parts: unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

const inherited = ({ entrypoint, cmd }: ImageConfig) => ({ entrypoint, cmd });

const noSizes = { cpu: 0, memory: 0, disk: 0, gpu: limits.gpu.default };

function settingsOf(env: Settings['env'], workdir: string): Settings {
  return {
    env,
    args: new Map(),
    workdir,
    user: null,
    entrypoint: null,
    cmd: null,
    isCmdOwn: false,
    shell: SHELL,
  };
}
