/** Builds the standard base image, the default for sandboxes. An argument names another processor than the machine's. */
import { join } from 'node:path';
import { step } from './command.ts';
import { sourcesOf } from './debian/mirror.ts';
import { buildImage } from './images/image-build.ts';
import { typescriptStarter } from './images/typescript-starter.ts';
import { hostProcessor, processorOf } from './processors/processor.ts';

await step('base image', () => {
  const processor = processorOf(process.argv[2] ?? hostProcessor.name);
  return buildImage(
    {
      name: 'base',
      suite: 'trixie',
      sources: (mirror) => sourcesOf(mirror, 'trixie'),
      hookEnvironment: async (nodeModules) => ({
        NPM_DIST: join(nodeModules, 'npm'),
        EMOJI_DIST: join(nodeModules, '@expo-google-fonts/noto-emoji'),
        TYPESCRIPT: await typescriptStarter(processor),
      }),
    },
    processor,
  );
});
