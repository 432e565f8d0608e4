/** A registry in memory that serves exactly what a test gives it, counts what is fetched, and fails when told to. */
import { createHash } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

export interface RawImage {
  /** As they are stored: compressed or not. */
  layers: Buffer[];
  /** Of the layers when they are decompressed; taken from them when absent. */
  diffIds?: string[];
  /** What is sent for the layer of this number instead. */
  instead?: Record<number, Buffer>;
  /** Where else each layer is said to be. */
  urls?: string[];
}

export interface RawRegistry {
  /** host:port */
  address: string;
  /** Serves it under every tag of this name; gives back the digests of its layers. */
  put(name: string, image: RawImage): string[];
  /** How often each blob was sent to its end. */
  sent: Map<string, number>;
  /** Manifests that were asked for. */
  manifests: number;
  /** Asked before each answer; what it says happens instead. */
  trouble: (request: { path: string; digest: string | null }) => Trouble | null;
  close(): Promise<void>;
}

/** `half` sends half of what was asked for and breaks the connection; `hang` never answers. */
export type Trouble = { status: number } | 'half' | 'drop' | 'hang';

/** @param port One that is free by default. */
export async function startRawRegistry(port = 0): Promise<RawRegistry> {
  const blobs = new Map<string, Buffer>();
  const manifests = new Map<string, Buffer>();
  const server = createServer((request, response) => answer(request.url ?? '', response));
  function answer(path: string, response: ServerResponse): unknown {
    const [, name = '', kind, reference = ''] = /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/.exec(path) ?? [];
    const trouble = registry.trouble({ path, digest: kind === 'blobs' ? reference : null });
    if (trouble && typeof trouble === 'object') return response.writeHead(trouble.status).end();
    if (trouble === 'drop') return response.destroy();
    if (trouble === 'hang') return null;
    if (kind === undefined) return response.end('{}');
    if (kind === 'manifests') registry.manifests++;
    const body = kind === 'manifests' ? manifests.get(name) : blobs.get(reference);
    if (!body) return response.writeHead(404).end();
    return send(response, kind, body, trouble === 'half', () => {
      if (kind === 'blobs') registry.sent.set(reference, (registry.sent.get(reference) ?? 0) + 1);
    });
  }
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const registry: RawRegistry = {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent: new Map(),
    manifests: 0,
    trouble: () => null,
    put(name, { layers, diffIds = layers.map(diffIdOf), instead = {}, urls }) {
      const config = Buffer.from(
        JSON.stringify({
          os: 'linux',
          architecture: process.arch === 'x64' ? 'amd64' : process.arch,
          config: { Entrypoint: ['/from-the-image'] },
          rootfs: { type: 'layers', diff_ids: diffIds },
        }),
      );
      blobs.set(digestOf(config), config);
      layers.forEach((layer, at) => {
        blobs.set(digestOf(layer), instead[at] ?? layer);
      });
      const mediaType = 'application/vnd.oci.image.layer.v1.tar+gzip';
      const manifest = {
        schemaVersion: 2,
        mediaType: 'application/vnd.oci.image.manifest.v1+json',
        config: { mediaType: 'application/vnd.oci.image.config.v1+json', ...described(config) },
        layers: layers.map((layer) => ({ mediaType, ...described(layer), ...(urls ? { urls } : {}) })),
      };
      manifests.set(name, Buffer.from(JSON.stringify(manifest)));
      return layers.map(digestOf);
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
  return registry;
}

export function digestOf(content: Buffer): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}

function described(content: Buffer): { digest: string; size: number } {
  return { digest: digestOf(content), size: content.length };
}

/** Of what cannot be decompressed, any will do. */
function diffIdOf(layer: Buffer): string {
  try {
    return digestOf(layer[0] === 0x1f ? gunzipSync(layer) : layer);
  } catch {
    return digestOf(layer);
  }
}

function send(response: ServerResponse, kind: string, body: Buffer, half: boolean, done: () => void): void {
  const manifest = 'application/vnd.oci.image.manifest.v1+json';
  response.writeHead(200, {
    'content-type': kind === 'manifests' ? manifest : 'application/octet-stream',
    'content-length': body.length,
    'docker-content-digest': digestOf(body),
  });
  if (half) {
    response.write(body.subarray(0, body.length >> 1), () => response.destroy());
    return;
  }
  response.end(body, done);
}
