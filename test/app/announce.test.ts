/** What those who start the service are told. */
import { expect, it } from 'vitest';
import { howTo } from '../../src/app/options/announce.ts';
import { localRegion, parseRegions } from '../../src/model/region.ts';

const told = {
  url: 'http://127.0.0.1:7420',
  signInUrl: null,
  site: { protocol: 'http', domain: 'localhost', port: 7421 },
  ssh: { host: '127.0.0.1', port: 7422 },
  apiKeyFile: null,
} as const;

it('the announcement shows the region, or how to set it', () => {
  expect(howTo({ ...told, region: localRegion })).toContain(
    'Region   local; set its place with --region id=local,city=CITY,country=COUNTRY\n',
  );
  const [described] = parseRegions('--region', 'id=eu-central,city=Frankfurt,country=DE');
  expect(howTo({ ...told, region: described })).toContain('Region   eu-central (Frankfurt, DE)\n');
  const [partly] = parseRegions('--region', 'id=us,country=US');
  expect(howTo({ ...told, region: partly })).toContain('Region   us (US)\n');
});
