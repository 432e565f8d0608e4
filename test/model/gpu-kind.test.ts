/** `--gpu-kind`: a kind of the Container Device Interface, with or without names. */
import { describe, expect, it } from 'vitest';
import { cdiKindPattern, cdiNamePattern, parseGpuKind } from '../../src/model/gpu-kind.ts';

const parse = (text: string) => parseGpuKind('--gpu-kind', text);

describe('a kind of GPUs', () => {
  it.each([
    ['nvidia.com/gpu', { kind: 'nvidia.com/gpu', names: null }],
    ['a/b', { kind: 'a/b', names: null }],
    ['amd.com/gpu=0', { kind: 'amd.com/gpu', names: ['0'] }],
    ['amd.com/gpu=0,GPU-1f,0:1,0', { kind: 'amd.com/gpu', names: ['0', 'GPU-1f', '0:1'] }],
  ])('is %s', (text, kind) => {
    expect(parse(text)).toEqual(kind);
  });

  it.each(['', 'gpu', 'a.b/gpu=', 'a.b/gpu=0=1', 'a.b/../gpu', 'a.b/gpu=0,', 'a.b/gpu= 0', '/gpu', 'a/'])(
    'is not %j',
    (text) => {
      expect(() => parse(text)).toThrow(
        expect.objectContaining({
          code: 'invalid_argument',
          message: expect.stringContaining(`'${text}' was given`),
          fields: expect.objectContaining({ parameter: '--gpu-kind' }),
        }),
      );
    },
  );

  it.each([...['a/b', 'A1/B2', 'a_.-b/c_-d', `${'a'.repeat(127)}/b`, `a/${'b'.repeat(63)}`], ...['a.b/c']])(
    'has the form of %s',
    (kind) => {
      expect(cdiKindPattern.test(kind)).toBe(true);
    },
  );

  it.each([
    ...['1a/b', 'a/1b', 'a-/b', 'a/b-', '.a/b', 'a/.b', 'a/b.c', 'a b/c', 'a/b/c', ' a/b', 'a/b '],
    ...[`${'a'.repeat(128)}/b`, `a/${'b'.repeat(64)}`],
  ])('has no form like %s', (kind) => {
    expect(cdiKindPattern.test(kind)).toBe(false);
  });
});

it.each([
  ...[
    ['0', true] as const,
    ['a', true] as const,
    ['a_.:-b', true] as const,
    ['x'.repeat(128), true] as const,
  ],
  ...[['', false] as const, ['-a', false] as const, ['a-', false] as const, ['a b', false] as const],
  ...[['x'.repeat(129), false] as const, [' a', false] as const, ['a ', false] as const],
])('%j is the name of a device: %s', (name, isName) => {
  expect(cdiNamePattern.test(name)).toBe(isName);
});
