/** Regions of the service, as an operator describes them. */
import { describe, expect, it } from 'vitest';
import { isDescribed, parseRegions, placeOf } from '../../src/model/region.ts';

const parse = (text: string) => parseRegions('--region', text);
const nowhere = { country: '', city: '' };

describe('regions', () => {
  it.each(['', ' ', ' ; ;'])('are the one local region when %j is said', (text) => {
    expect(parse(text)).toEqual([{ id: 'local', name: 'Local', location: nowhere }]);
  });

  it('have the name of their id, and no place, until they are described', () => {
    expect(parse('id=eu')).toEqual([{ id: 'eu', name: 'eu', location: nowhere }]);
    expect(parse(' city = Frankfurt am Main , id=eu-1;name=A=B,id=us,country=US')).toEqual([
      { id: 'eu-1', name: 'eu-1', location: { country: '', city: 'Frankfurt am Main' } },
      { id: 'us', name: 'A=B', location: { country: 'US', city: '' } },
    ]);
  });

  it('have texts of up to 100 characters, and are up to 64', () => {
    expect(parse(`id=eu,name=${'x'.repeat(100)}`)[0].name).toHaveLength(100);
    const many = (count: number) => Array.from({ length: count }, (_, index) => `id=r${index}`).join(';');
    expect(parse(many(64))).toHaveLength(64);
    expect(() => parse(many(65))).toThrow('--region takes at most 64 regions.');
  });

  it.each(['a', '0', 'a-b', 'x'.repeat(63)])('may have the id %s', (id) => {
    expect(parse(`id=${id}`)[0].id).toBe(id);
  });

  it.each([
    ['name=x', "has an id of 1 to 63 lower-case letters, digits and hyphens, and '' was given"],
    ['id=A', 'has an id of 1 to 63'],
    ['id=-a', 'has an id of 1 to 63'],
    ['id=a-', 'has an id of 1 to 63'],
    ['id=a b', 'has an id of 1 to 63'],
    [`id=${'x'.repeat(64)}`, 'has an id of 1 to 63'],
    ['id=a,id=b', "consists of id, name, city and country, each once, and 'id=b' was given"],
    ['id=a, planet=earth ', "and 'planet=earth' was given"],
    ['id=a,xname=b', 'consists of'],
    ['id=a,', "consists of id, name, city and country, each once, and '' was given"],
    ['id=a,name=', 'has a name of 1 to 100 printable characters'],
    ['id=a,city= ', 'has a city of 1 to 100'],
    ['id=a,name=b\u0000', 'has a name of 1 to 100'],
    ['id=a,name=b\u007fc', 'has a name of 1 to 100'],
    [`id=a,name=${'x'.repeat(101)}`, 'has a name of 1 to 100'],
    ['id=a;id=b;id=a', 'names a region twice'],
  ])('are not %j', (text, rule) => {
    expect(() => parse(text)).toThrow(
      expect.objectContaining({
        code: 'invalid_argument',
        message: expect.stringContaining(rule),
        fields: expect.objectContaining({ parameter: '--region' }),
      }),
    );
  });
});

it.each([
  ['', '', '', false],
  ['DE', '', 'DE', true],
  ['', 'Frankfurt', 'Frankfurt', true],
  ['DE', 'Frankfurt', 'Frankfurt, DE', true],
])('the place in country %j and city %j is shown as %j, described: %s', (country, city, place, described) => {
  const region = { id: 'eu', name: 'eu', location: { country, city } };
  expect(placeOf(region)).toBe(place);
  expect(isDescribed(region)).toBe(described);
});
