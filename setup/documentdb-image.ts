/**
 * Builds the image of the document database: PostgreSQL with the documentdb extension, and the gateway in front of
 * it.
 */
import { step } from './command.ts';
import { buildImage } from './images/image-build.ts';

await step('documentdb image', () =>
  buildImage({
    name: 'documentdb',
    // The only suite with the extension; it has no updates suite.
    suite: 'sid',
    sources: ({ archiveUri }) => [`deb ${archiveUri} sid main`],
    hookEnvironment: async (nodeModules) => ({ NODE_MODULES: nodeModules }),
  }),
);
