/** Images for the cluster's registry, each of one layer that is a folder's contents. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { debianFolder, kubernetesFolder } from '../../setup/cluster/folders.ts';

/** The `config` of an OCI image, such as `{ Entrypoint: ['/agent'] }`. */
export type ImageConfig = Record<string, unknown>;

const OCI = 'application/vnd.oci.image';
const PROCESSORS: Record<string, string> = { x64: 'amd64', arm64: 'arm64' };

/**
 * Pushes the contents of a folder as an image.
 * @param name Such as `busybox:1`.
 * @returns its name for Pods, with the registry.
 */
export function pushImage(registry: string, name: string, root: string, config: ImageConfig = {}): string {
  const layout = mkdtempSync(join(tmpdir(), 'sandhaven-cluster-image-'));
  try {
    writeLayout(layout, root, config);
    const reference = `${registry}/${name}`;
    const target = ['--dest-tls-verify=false', `oci:${layout}:image`, `docker://${reference}`];
    const env = { ...process.env, NO_PROXY: '*', no_proxy: '*' };
    execFileSync('skopeo', ['copy', '--quiet', ...target], { stdio: 'pipe', env });
    return reference;
  } finally {
    rmSync(layout, { recursive: true, force: true });
  }
}

/** What holds a Pod's namespaces, which the nodes ask for as `pause:1`. */
export function pushPause(registry: string): string {
  return pushFiles(registry, 'pause:1', { Entrypoint: ['/pause'] }, (root) => {
    copyFileSync(join(kubernetesFolder, 'pause'), join(root, 'pause'));
  });
}

/** A shell and the programs of busybox. */
export function pushBusybox(registry: string): string {
  return pushFiles(registry, 'busybox:1', { Env: ['PATH=/bin'], Cmd: ['sh'] }, (root) => {
    const busybox = join(debianFolder, 'usr/bin/busybox');
    for (const folder of ['bin', 'tmp', 'etc']) mkdirSync(join(root, folder));
    chmodSync(join(root, 'tmp'), 0o1777);
    copyFileSync(busybox, join(root, 'bin/busybox'));
    const applets = execFileSync(busybox, ['--list'], { encoding: 'utf8' }).trim().split('\n');
    for (const applet of applets) if (applet !== 'busybox') symlinkSync('busybox', join(root, 'bin', applet));
    writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0:root:/:/bin/sh\n');
  });
}

/** Pushes an image of the files that a function writes. */
export function pushFiles(
  registry: string,
  name: string,
  config: ImageConfig,
  write: (root: string) => void,
): string {
  const root = mkdtempSync(join(tmpdir(), 'sandhaven-cluster-root-'));
  try {
    // The mode becomes that of a Pod's own root.
    chmodSync(root, 0o755);
    write(root);
    return pushImage(registry, name, root, config);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function writeLayout(layout: string, root: string, config: ImageConfig): void {
  const blobs = join(layout, 'blobs/sha256');
  mkdirSync(blobs, { recursive: true });
  const put = (mediaType: string, data: Buffer) => {
    const digest = createHash('sha256').update(data).digest('hex');
    writeFileSync(join(blobs, digest), data);
    return { mediaType: `${OCI}.${mediaType}`, digest: `sha256:${digest}`, size: data.length };
  };
  const json = (value: object) => Buffer.from(JSON.stringify(value));
  const file = join(layout, 'layer.tar');
  execFileSync('tar', [
    '--sort=name',
    '--numeric-owner',
    '--owner=0',
    '--group=0',
    '-C',
    root,
    '-cf',
    file,
    '.',
  ]);
  const layer = put('layer.v1.tar', readFileSync(file));
  rmSync(file);
  const image = put(
    'config.v1+json',
    json({
      architecture: PROCESSORS[process.arch],
      os: 'linux',
      config,
      rootfs: { type: 'layers', diff_ids: [layer.digest] },
    }),
  );
  const manifest = put(
    'manifest.v1+json',
    json({ schemaVersion: 2, mediaType: `${OCI}.manifest.v1+json`, config: image, layers: [layer] }),
  );
  const annotations = { 'org.opencontainers.image.ref.name': 'image' };
  writeFileSync(
    join(layout, 'index.json'),
    json({ schemaVersion: 2, manifests: [{ ...manifest, annotations }] }),
  );
  writeFileSync(join(layout, 'oci-layout'), json({ imageLayoutVersion: '1.0.0' }));
}
