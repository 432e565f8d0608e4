/** What --registry-mirror and --registry-allow are read as, and what they let in. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  everyRegistry,
  formatAllowedImages,
  formatMirror,
  isImageAllowed,
  isNamedRegistry,
  isRegistryName,
  parseAllowedImages,
  parseRegistryMirrors,
} from '../../src/model/registries.ts';
import { parseReference } from '../../src/runtime/images/registry/reference.ts';

const MOST_RULES = 100;

const FLAG = '--registry-x';
const allows = (list: string, image: string) =>
  isImageAllowed(parseReference(image), { mirrors: [], allowed: parseAllowedImages(FLAG, list) });

describe('a registry', () => {
  it.each([
    ['all', 'registry.example', false],
    ['none', 'registry.example', false],
    ['all,registry.example', 'Registry.Example', true],
    ['all,registry.example', 'registry.example:5000', false],
    ['registry.example/team/*', 'registry.example', true],
  ])('with the list %j: %j is named: %j', (list, registry, named) => {
    expect(isNamedRegistry(registry, { mirrors: [], allowed: parseAllowedImages(FLAG, list) })).toBe(named);
  });
});

describe('an allow-list', () => {
  it.each([
    ['docker.io', 'debian:13', true],
    ['docker.io', 'index.docker.io/library/debian', true],
    ['index.docker.io', 'debian', true],
    ['docker.io/library/*', 'debian', true],
    ['docker.io/library/*', 'team/app', false],
    ['docker.io/library/debian', 'debian:13', true],
    ['docker.io/library/debian', 'debian-evil', false],
    ['docker.io/library/debian', 'docker.io/library/debian/more', false],
    ['docker.io/lib/*', 'debian', false],
    ['registry.example:5000/*', 'registry.example:5000/a/b/c', true],
    ['registry.example:5000', 'registry.example/a', false],
    ['registry.example', 'registry.example:5000/a', false],
    ['registry.example', 'registry.example.evil.test/a', false],
    ['registry.example', 'evil.registry.example/a', false],
    ['Registry.Example', 'REGISTRY.example/a', true],
    ['[::1]:5000', '[::1]:5000/a', true],
    ['all', 'registry.example/a', true],
    ['all,registry.example:5000', 'debian', true],
    ['none', 'debian', false],
    ['', 'debian', false],
    [' docker.io , registry.example/team/* ', 'registry.example/team/app', true],
    ['registry.example/team/*', 'registry.example/team', false],
    ['registry.example/team/*', 'registry.example/teams/app', false],
  ])('%j about %s: %s', (list, image, allowed) => {
    expect(allows(list, image)).toBe(allowed);
  });

  it('is shown as it is read', () => {
    const entry = fc.constantFrom(
      'docker.io',
      'r.example:5000',
      'r.example/a/*',
      'r.example/a/b',
      '[::1]:5/a-b/*',
    );
    fc.assert(
      fc.property(fc.array(entry, { minLength: 1 }), (entries) => {
        const once = parseAllowedImages(FLAG, entries.join(','));
        expect(once?.map(formatAllowedImages)).toEqual(entries);
      }),
    );
  });

  it('allows a registry exactly what begins with its name', () => {
    const host = fc.constantFrom('a.example', 'a.example:5000', 'b.a.example', 'localhost', 'a.example.b');
    fc.assert(
      fc.property(host, host, fc.constantFrom('x', 'x/y', 'x/y/z'), (listed, named, repository) => {
        expect(allows(listed, `${named}/${repository}`)).toBe(listed === named);
      }),
    );
  });
});

describe('mirrors', () => {
  it('are pairs, in order, with a folder or without', () => {
    expect(
      parseRegistryMirrors(FLAG, 'index.docker.io=m.example:5000, Docker.io=m.example/proxy/hub'),
    ).toEqual([
      { registry: 'docker.io', mirror: 'm.example:5000', prefix: '' },
      { registry: 'docker.io', mirror: 'm.example', prefix: 'proxy/hub' },
    ]);
    expect(parseRegistryMirrors(FLAG, '')).toEqual([]);
  });

  it('would be taken for a part of a repository without a dot or a port, so such names are none', () => {
    for (const name of ['mirror', 'library', 'a', '']) expect(isRegistryName(name), name).toBe(false);
    for (const name of ['mirror:5000', 'm.example', 'localhost'])
      expect(isRegistryName(name), name).toBe(true);
  });
});

describe('an option that cannot be parsed is refused and named', () => {
  const refused = expect.objectContaining({
    code: 'invalid_argument',
    fields: expect.objectContaining({ parameter: FLAG }),
  });
  const thrownBy = (work: () => unknown) => {
    try {
      return work();
    } catch (error) {
      return error;
    }
  };

  it.each([
    ...['docker.io', 'docker.io=', '=m.example', 'a.example=b.example=c.example', 'mirror=m.example'],
    ...['docker.io=mirror', 'docker.io=http://m.example', 'docker.io=m.example/', 'docker.io=m.example/UP'],
    ...[
      'docker.io=m.example/../x',
      'docker.io=user:password@m.example',
      'docker.io=-v',
      'docker.io=m.example:0',
    ],
  ])('mirror %j', (text) => {
    expect(thrownBy(() => parseRegistryMirrors(FLAG, text))).toEqual(refused);
  });

  it.each([
    ...[
      'debian',
      'library/debian',
      '*',
      'docker.io/',
      '*.example',
      'docker.io/**',
      'docker.io/*/a',
      'docker.io/lib*',
    ],
    ...['https://docker.io', 'docker.io/library/debian:13', 'none,docker.io', '../x', 'docker.io/a//b'],
  ])('allow %j', (text) => {
    expect(thrownBy(() => parseAllowedImages(FLAG, text))).toEqual(refused);
  });

  it('very many', () => {
    const many = (entry: string) =>
      Array(MOST_RULES + 1)
        .fill(entry)
        .join(',');
    expect(thrownBy(() => parseAllowedImages(FLAG, many('a.example')))).toEqual(refused);
    expect(thrownBy(() => parseRegistryMirrors(FLAG, many('a.example=b.example')))).toEqual(refused);
  });
});

describe('the bounds of the rules', () => {
  const entries = (count: number) =>
    Array.from({ length: count }, (_, index) => `r${index}.example`).join(',');

  it('are 100 entries', () => {
    expect(parseAllowedImages(FLAG, entries(100))).toHaveLength(100);
    expect(() => parseAllowedImages(FLAG, entries(101))).toThrow('--registry-x takes at most 100 entries.');
  });

  it.each(['r.example/a__b/c.d-e', 'r.example/a--b', 'r.example/ab/cd/*'])('take %s', (entry) => {
    expect(parseAllowedImages(FLAG, entry)?.map(formatAllowedImages)).toEqual([entry]);
  });

  it.each([
    'r.example/a//b',
    'r.example/A',
    'r.example/a-',
    'r.example/-a',
    'r.example/a/',
    'r.example/a/*/b',
  ])('refuse %s', (entry) => {
    expect(() => parseAllowedImages(FLAG, entry)).toThrow(`'${entry}' was given`);
  });

  it('take all and none with spaces around', () => {
    expect(parseAllowedImages(FLAG, ' all ')).toBeNull();
    expect(parseAllowedImages(FLAG, ' none ')).toEqual([]);
  });

  it('are none unless somebody sets some', () => {
    expect(everyRegistry).toEqual({ mirrors: [], allowed: null });
  });
});

it.each(['mirror.example', 'mirror.example:5000/proxy/hub'])(
  'the mirror %s is shown as it is read',
  (mirror) => {
    const [parsed] = parseRegistryMirrors(FLAG, `docker.io=${mirror}`);
    expect(parsed && formatMirror(parsed)).toBe(mirror);
  },
);
