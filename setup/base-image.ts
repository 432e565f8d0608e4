/** Builds the standard base image, the default for sandboxes. */
import { join } from 'node:path';
import { step } from './command.ts';
import { sourcesOf } from './debian/mirror.ts';
import { buildImage } from './images/image-build.ts';

await step('base image', () =>
  buildImage({
    name: 'base',
    suite: 'trixie',
    sources: (mirror) => sourcesOf(mirror, 'trixie'),
    hookEnvironment: (nodeModules) => ({ NPM_DIST: join(nodeModules, 'npm') }),
  }),
);
