/** Names of registries: a host, with or without a port. */
import { describe, expect, it } from 'vitest';
import { isLoopbackRegistry, isRegistryName, registryKey } from '../../src/model/registries.ts';

describe('the name of a registry', () => {
  it.each([
    ...['docker.io', 'localhost', 'localhost:5000', 'host:1', 'host:65535', 'a-b.c', 'A.b', '1.2', 'a--b.c'],
    ...['127.0.0.1', '[::1]', '[::1]:5000', '[2001:db8::1]', 'abc.def.ghi'],
  ])('may be %s', (name) => {
    expect(isRegistryName(name)).toBe(true);
  });

  it.each([
    ...['', 'library', 'host:0', 'host:65536', 'host:123456', 'host:', ':5000', 'host:5x', '-a.b', 'a-.b'],
    ...['a.-b', 'a.b-', '.a', 'a.', 'a..b', 'a_b.c', 'a b.c', 'a.b/c', ' a.b', 'a.b ', '[::1', '::1]', '[:]'],
    ...['[::g]', `[${':'.repeat(40)}]`, '[::1]x', 'x[::1]', 'é.b'],
  ])('is not %j', (name) => {
    expect(isRegistryName(name)).toBe(false);
  });

  it.each([
    ['docker.io', 'docker.io'],
    ['Index.Docker.io', 'docker.io'],
    ['Registry.Example:5000', 'registry.example:5000'],
    ['xindex.docker.io', 'xindex.docker.io'],
  ])('%s has the key %s', (name, key) => {
    expect(registryKey(name)).toBe(key);
  });
});

it.each([
  ...['localhost', 'localhost:5000', '[::1]', '[::1]:5000', '127.0.0.1', '127.255.25.5:80'].map(
    (name): [string, boolean] => [name, true],
  ),
  ...[
    'docker.io',
    '[::2]',
    '128.0.0.1',
    '127.0.0.1.example',
    '127.0.0',
    'a.127.0.0.1',
    '127.0.0.1234',
    '',
  ].map((name): [string, boolean] => [name, false]),
])('%j is the host’s own registry: %s', (name, own) => {
  expect(isLoopbackRegistry(name)).toBe(own);
});
