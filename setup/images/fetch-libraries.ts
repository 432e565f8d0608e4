/** Brings Debian's libraries for the image of the service into the cache. */
import { step } from '../command.ts';
import { libraries } from './libraries.ts';

await step('image libraries', async () => {
  await libraries();
});
