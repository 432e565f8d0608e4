/** Pulls one image in a process of its own, to be killed: `pull-once.ts <data directory> <reference>`. */
import { createImages } from '../../src/runtime/images/images.ts';
import { createTestHelpers, gatesIn, naming, unpackPath } from './helpers.ts';

const [dataDir = '', reference = ''] = process.argv.slice(2);
const log = { info() {}, warn() {}, error() {} };
const images = createImages({
  ...{ dataDir, cacheDir: dataDir, helpers: createTestHelpers(), unpackPath, log },
  ...{ gates: gatesIn(dataDir), rules: naming(reference.split('/')[0] ?? '') },
});
await images.init();
await images.ensure(reference);
