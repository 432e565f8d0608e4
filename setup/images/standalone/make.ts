/** `make docker-image`: the image with the whole service, as an OCI layout and for `docker load`, in dist/. Needs root. */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { version } from '../../../src/home.ts';
import { step } from '../../command.ts';
import { hostProcessor } from '../../processors/processor.ts';
import { addChecksums } from '../../release/checksums.ts';
import { lastCommit } from '../commit.ts';
import { writeLayout } from '../layout.ts';
import { writeDockerArchive } from './docker-archive.ts';
import { settings } from './settings.ts';
import { type Packages, writeRoots } from './system.ts';

const NAME = 'sandhaven-standalone';
const home = join(import.meta.dirname, '../../..');
const dist = join(home, 'dist');

/** All that is in the image, or makes it. */
const CONTENTS = [
  ...[
    'bin',
    'deploy/debian',
    'deploy/standalone',
    'images/base',
    'native',
    'package-lock.json',
    'package.json',
  ],
  ...['packages', 'sdk', 'sdk-python', 'setup', 'src', 'web'],
];

await step('image for docker', async () => {
  const processor = hostProcessor.debian;
  const packages = packagesFor(processor);
  const { epoch, revision } = await lastCommit(home, CONTENTS);
  const layout = join(dist, `${NAME}.oci`);
  const work = await mkdtemp(join(tmpdir(), 'sandhaven-image-'));
  try {
    const [system, baseImage] = [join(work, 'system'), join(work, 'base-image')];
    await mkdir(system);
    await mkdir(baseImage);
    await writeRoots(home, packages, { system, baseImage, epoch });
    const { digest, bytes } = await writeLayout(layout, {
      layers: [baseImage, system],
      settings: { ...settings, Labels: labels(revision) },
      ...{ epoch, source: revision, tag: version },
    });
    console.log(`dist/${NAME}.oci: ${digest} (${megabytes(bytes)})`);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  const archive = join(dist, `${NAME}_${version}_${processor}.tar`);
  await writeDockerArchive(layout, archive, { reference: `${NAME}:${version}`, epoch });
  await addChecksums(dist, [basename(archive)]);
  console.log(`dist/${basename(archive)}: ${megabytes((await stat(archive)).size)}`);
});

/** Of `make dist`. */
function packagesFor(processor: string): Packages {
  const packages = {
    service: join(dist, `sandhaven_${version}_${processor}.deb`),
    baseImage: join(dist, `sandhaven-base-image_${version}_${processor}.deb`),
  };
  for (const file of Object.values(packages)) {
    if (!existsSync(file)) throw new Error(`${file} is missing; run make dist`);
  }
  return packages;
}

function labels(revision: string): Record<string, string> {
  const all = {
    title: 'Sandhaven, with its engine',
    description: 'Sandboxes and data access for language-model agents, whole in one privileged container',
    licenses: 'Apache-2.0',
    ...{ version, revision },
  };
  return Object.fromEntries(
    Object.entries(all)
      .filter(([, value]) => value !== '')
      .map(([name, value]) => [`org.opencontainers.image.${name}`, value]),
  );
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
