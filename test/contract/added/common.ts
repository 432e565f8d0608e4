/** Bounds that parameters of many tools share. */
import { optional } from '../notation.ts';

/** A sandbox or a snapshot, by name or ID. */
export const reference = { minChars: 1, maxChars: 63 };

export const imageReference = { minChars: 1, maxChars: 512 };

export const path = { minChars: 1, maxBytes: 4_095, refuses: ['a\0b'] };

export const glob = { minChars: 1, maxChars: 1_024 };

/** A Linux user: a name, or a number as text. */
export const user = optional.stringWith({
  pattern: '^([a-z_][a-z0-9_-]{0,31}|[0-9]{1,5})$',
  takes: ['ann', '_apt', 'www-data', 'a'.repeat(32), 'root', '0', '1000', '65535'],
  refuses: ['', 'Ann', '-a', 'a b', 'a.b', 'ann\n', 'a'.repeat(33), '65536', '100000', '-1', '1a'],
});

/** A page number, an offset or a line: products with a size stay exact. */
export const position = { max: 2_147_483_647 };

/** Ten years. */
export const minutes = { max: 5_256_000 };

/** At most 256 keys of at most 256 characters, values of 64 KiB, 256 KiB in all. */
export const environment = {
  default: {},
  takes: [
    {},
    keysOf(256, 'v'),
    { ['K'.repeat(256)]: 'v' },
    { A: 'x'.repeat(65_536) },
    { A: 'ä'.repeat(32_768) },
    fourOf('x'.repeat(65_535)),
  ],
  refuses: [
    keysOf(257, 'v'),
    { ['K'.repeat(257)]: 'v' },
    { A: 'x'.repeat(65_537) },
    { A: 'ä'.repeat(32_769) },
    { ...fourOf('x'.repeat(65_535)), D: 'x'.repeat(65_536) },
    { A: 'a\0b' },
  ],
};

/** At most 64 keys of 1 to 128 characters, values of at most 512. */
export const labels = {
  takes: [{}, keysOf(64, 'v'), { ['k'.repeat(128)]: 'v'.repeat(512) }],
  refuses: [
    keysOf(65, 'v'),
    { '': 'v' },
    { ['k'.repeat(129)]: 'v' },
    { k: 'v'.repeat(513) },
    { 'a\nb': 'v' },
  ],
};

function keysOf(count: number, value: string): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`K${index}`, value]));
}

/** Four bytes of names. */
function fourOf(value: string): Record<string, string> {
  return { A: value, B: value, C: value, D: value };
}
