/** Secrets: their places in requests, values, variables and placeholders. */
import { describe, expect, it } from 'vitest';
import { limits } from '../../../src/model/limits.ts';
import { formatPlace, parsePlace } from '../../../src/model/secrets/place-text.ts';
import {
  assertValue,
  isExpired,
  placeholderOf,
  type Secret,
  useOf,
  usualVariable,
} from '../../../src/model/secrets/secret.ts';

describe('a place', () => {
  it.each([
    ['bearer', { in: 'header', name: 'authorization', format: 'Bearer {secret}' }],
    ['header:x-api-key', { in: 'header', name: 'x-api-key', format: '{secret}' }],
    [
      'header:authorization:token {secret}',
      { in: 'header', name: 'authorization', format: 'token {secret}' },
    ],
    ['query:api_key', { in: 'query', name: 'api_key' }],
    ['basic', { in: 'basic', username: null }],
    ['basic:robot', { in: 'basic', username: 'robot' }],
    ['aws', { in: 'aws' }],
  ] as const)('%s is parsed, and written the same', (text, place) => {
    expect(parsePlace('place', text)).toEqual(place);
    expect(formatPlace(place)).toBe(text);
  });

  it('has one form for one meaning', () => {
    expect(formatPlace(parsePlace('place', ' header:Authorization:Bearer {secret} '))).toBe('bearer');
    expect(formatPlace(parsePlace('place', 'header:X-Key:{secret}'))).toBe('header:x-key');
  });

  it.each([
    ...['', 'cookie', 'bearer:x', 'aws:x', 'header', 'header:', 'header:a b', 'query', 'query:', 'query:a&b'],
    ...[
      'basic:',
      'basic:a:b',
      'basic:a\nb',
      'header:host',
      'header:Content-Length',
      'header:proxy-authorization',
    ],
    ...['header:x:none', 'header:x:{secret}{secret}', 'header:x:{secret}\r\ny: z', 'header:x:é{secret}'],
    `header:x:${'a'.repeat(600)}{secret}`,
  ])('%j is refused', (text) => {
    expect(() => parsePlace('place', text)).toThrow(expect.objectContaining({ code: 'invalid_argument' }));
  });
});

describe('a value', () => {
  it.each(['sk_live_1', 'with space inside', 'pässword', 'x'.repeat(8)])('%j fits', (value) => {
    assertValue('value', value, 'bearer');
  });

  it.each([
    'short',
    '1234567',
    'a\nb345678',
    'a\rb345678',
    'a\0b345678',
    'a\tb345678',
    ' padded text',
    'padded text\n',
  ])('%j is refused, and not repeated', (value) => {
    const refused = (() => {
      try {
        return assertValue('value', value, 'bearer');
      } catch (error) {
        return error;
      }
    })();
    expect(refused).toMatchObject({ code: 'invalid_argument', fields: { parameter: 'value' } });
    expect(JSON.stringify([refused, String(refused)])).not.toContain(value.trim());
  });

  it.each([
    ['AKIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', true],
    ['AKIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY:session//token==', true],
    ['minioadmin:minioadmin', true],
    ['AKIAIOSFODNN7EXAMPLE', false],
    ['AKIAIOSFODNN7EXAMPLE:', false],
    ['AKIA IOSFODNN7:wJalrXUtnFEMI', false],
    ['a:b:c:d-and-more', false],
  ])('%s for aws fits: %s', (value, fits) => {
    const check = () => assertValue('value', value, 'aws');
    if (fits) check();
    else expect(check).toThrow(/ACCESS_KEY_ID:SECRET_ACCESS_KEY/);
  });
});

it.each([
  ['stripe', 'STRIPE'],
  ['openai-key.v2', 'OPENAI_KEY_V2'],
  ['2fa', '_2FA'],
])('the variable of %s is %s', (name, variable) => {
  expect(usualVariable(name)).toBe(variable);
});

describe('a placeholder', () => {
  it('is the same for one sandbox and one secret, and another for others', () => {
    const one = placeholderOf('key', 'sb_1', 'se_1');
    expect(one).toBe('sandhaven-secret-9e6d58bf938e9039b4deff0bdd357959');
    expect(placeholderOf('key', 'sb_1', 'se_1')).toBe(one);
    const others = [
      placeholderOf('key', 'sb_2', 'se_1'),
      placeholderOf('key', 'sb_1', 'se_2'),
      placeholderOf('other key', 'sb_1', 'se_1'),
    ];
    expect(new Set([one, ...others]).size).toBe(4);
    for (const text of others) expect(text).toMatch(/^sandhaven-secret-[0-9a-f]{32}$/);
  });
});

it('expires at its time', () => {
  expect([null, 9, 10, 11].map((expiresAt) => isExpired({ expiresAt }, 10))).toEqual([
    false,
    true,
    true,
    false,
  ]);
});

it('is used by an engine with its targets and its place', () => {
  const secret: Secret = {
    ...{ id: 'se_1', ownerId: 'user_1', name: 'stripe', variable: 'STRIPE', place: 'header:x-key' },
    ...{
      targets: ['GET https://*.example.com:8443/v1'],
      provider: null,
      createdAt: 1,
      updatedAt: 1,
      rotatedAt: 1,
      expiresAt: 9,
      lastUsedAt: null,
    },
  };
  expect(useOf(secret, 'the value', 'the placeholder')).toEqual({
    ...{ secret: 'se_1', name: 'stripe', value: 'the value', placeholder: 'the placeholder', expiresAt: 9 },
    targets: [{ host: '*.example.com', port: 8_443, methods: ['GET'], path: '/v1' }],
    place: { in: 'header', name: 'x-key', format: '{secret}' },
  });
});

it('the bounds of secrets are these', () => {
  const { perOwner, perSandbox, targets, valueBytes } = limits.secrets;
  expect({ perOwner, perSandbox, targets, valueBytes }).toEqual({
    ...{ perOwner: 100, perSandbox: 10, targets: 20, valueBytes: 8_192 },
  });
});
