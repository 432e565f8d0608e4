/** Sandbox toolkit, "Snapshots, regions, identity". */
import { optional, required, tool } from '../notation.ts';

export const snapshots = [
  tool('Sandbox.CreateSnapshot', {
    name: required.string,
    image: required.string,
    entrypoint: optional.strings,
    resources: optional.jsonWith({
      keys: {
        cpu: optional.integer({}),
        memory: optional.integer({}),
        disk: optional.integer({}),
        gpu: optional.integer({}),
      },
    }),
    region_id: optional.string,
  }),
  tool('Sandbox.GetSnapshot', { snapshot: required.string }),
  tool('Sandbox.ListSnapshots', {
    page: optional.integer({ min: 1, default: 1 }),
    page_size: optional.integer({ min: 1, max: 100, default: 20 }),
  }),
  tool('Sandbox.ListRegions', {}),
  tool('Sandbox.WhoAmI', {}),
];
