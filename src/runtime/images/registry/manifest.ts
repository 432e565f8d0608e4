/** Documents of an image (manifest, index, configuration): untrusted, so bounded and checked. */
import { arch } from 'node:os';
import { z } from 'zod';
import { SandhavenError } from '../../../model/errors.ts';
import { judgeJson } from '../../../model/json-bounds.ts';
import { limits } from '../../../model/limits.ts';
import type { ImageConfig } from './record.ts';

const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/);
const size = z.number().int().nonnegative();
const platform = z.object({ os: z.string(), architecture: z.string() });

/** `urls` would make skopeo contact any server that the image names. */
const layer = z.object({ digest, size, mediaType: z.string(), urls: z.array(z.string()).nullish() });

const manifestSchema = z.object({
  config: z.object({ digest }),
  layers: z.array(layer).max(limits.image.layers),
});

const indexSchema = z.object({
  manifests: z.array(z.object({ digest, platform: platform.optional() })),
});

const strings = z.array(z.string()).nullish();

const configSchema = z.object({
  os: z.string(),
  architecture: z.string(),
  rootfs: z.object({ diff_ids: z.array(digest).max(limits.image.layers) }),
  config: z
    .object({
      Env: strings,
      Entrypoint: strings,
      Cmd: strings,
      WorkingDir: z.string().nullish(),
      User: z.string().nullish(),
    })
    .nullish(),
});

export type Manifest = z.infer<typeof manifestSchema>;

/** Parses an image's manifest, or picks this host's from a list for several platforms. */
export function parseManifest(
  text: string,
  name: string,
): { manifest: Manifest } | { platformDigest: string } {
  const document = parseJson(text, name);
  const manifest = manifestSchema.safeParse(document);
  if (manifest.success) return { manifest: manifest.data };
  const index = indexSchema.safeParse(document);
  if (!index.success) throw unusable(name, 'its manifest is of a kind that is not supported');
  const match = index.data.manifests.find((entry) => entry.platform && isHost(entry.platform));
  if (!match) throw unusable(name, `it is not made for linux/${architecture()}`);
  return { platformDigest: match.digest };
}

/** Returns the digest of the manifest in the index of an OCI layout that holds one image. */
export function parseLayout(text: string, name: string): string {
  const index = indexSchema.safeParse(parseJson(text, name));
  const only = index.data?.manifests[0];
  if (!only) throw unusable(name, 'what was fetched holds no image');
  return only.digest;
}

/**
 * Returns the configuration, and the digests of the decompressed layers in order. Leaves out variables without a usable
 * name, as no process could have them.
 */
export function parseConfig(text: string, name: string): { config: ImageConfig; diffIds: string[] } {
  const parsed = configSchema.safeParse(parseJson(text, name));
  if (!parsed.success) throw unusable(name, 'its configuration cannot be understood');
  if (!isHost(parsed.data)) throw unusable(name, `it is not made for linux/${architecture()}`);
  const config = parsed.data.config ?? {};
  const pairs = (config.Env ?? []).flatMap((line) => {
    const match = /^([A-Za-z_][A-Za-z0-9_]*)=([^\0]*)$/.exec(line);
    return match ? [[match[1] ?? '', match[2] ?? '']] : [];
  });
  return {
    config: {
      env: Object.fromEntries(pairs),
      entrypoint: config.Entrypoint ?? [],
      cmd: config.Cmd ?? [],
      workingDir: config.WorkingDir || '/',
      user: config.User ?? '',
    },
    diffIds: parsed.data.rootfs.diff_ids,
  };
}

export function unusable(name: string, why: string): SandhavenError {
  return new SandhavenError('failed_precondition', `The image ${name} cannot be used: ${why}.`, {
    parameter: 'image',
    hint: 'Choose another image or tag.',
  });
}

function parseJson(text: string, name: string): unknown {
  if (judgeJson(Buffer.from(text), limits.image.document) !== 'fits') {
    throw unusable(name, 'the registry’s answer has too many values');
  }
  try {
    return JSON.parse(text);
  } catch {
    throw unusable(name, 'the registry’s answer is not JSON, or is too long');
  }
}

function isHost({ os, architecture: made }: { os: string; architecture: string }): boolean {
  return os === 'linux' && made === architecture();
}

/** Returns this host's architecture under its name in container images. */
export function architecture(): string {
  return arch() === 'x64' ? 'amd64' : arch();
}
