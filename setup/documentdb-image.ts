/** The document database as an image: PostgreSQL with the documentdb extension, and the gateway in front of it. */
import { step } from './command.ts';
import { buildImage } from './image-build.ts';

await step('documentdb image', () =>
  buildImage({
    name: 'documentdb',
    // The one suite that has the extension; it has no updates beside it.
    suite: 'sid',
    sources: ({ archiveUri }) => [`deb ${archiveUri} sid main`],
    hookEnvironment: (nodeModules) => ({ NODE_MODULES: nodeModules }),
  }),
);
