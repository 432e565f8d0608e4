/**
 * Rust tables of the system call filter and the hidden paths of a machine, for an agent that begins in a container of
 * somebody else's making: `src/runtime/oci/machine` stays their only source.
 */
import { isDeepStrictEqual } from 'node:util';
import { MASKED_PATHS } from '../../src/runtime/oci/machine/masked-paths.ts';
import { type Seccomp, seccompRules } from '../../src/runtime/oci/machine/seccomp.ts';

type Call = Seccomp['syscalls'][number];

/** Rules that follow each other for the same calls with the same end: any of their conditions is enough. */
interface Rule {
  names: string[];
  start: string;
  cases: string[];
}

const MAX_COLUMNS = 110;

export function generateAgentFilter(): string {
  return [
    '//! Made by `make generate` from src/runtime/oci/machine/seccomp.ts and masked-paths.ts. Do not edit.',
    '',
    'use linux_raw_sys::general::*;',
    '',
    'use crate::rule::{Rule, allow, bits, refuse};',
    '',
    '/// Hidden in /proc and /sys, where the host has them.',
    'pub const MASKED_PATHS: &[&str] = &[',
    ...wrapped(MASKED_PATHS.map((path) => JSON.stringify(path))),
    '];',
    '',
    'pub const RULES: &[Rule] = &[',
    ...table(rulesOf('x64'), rulesOf('arm64')),
    '];',
    '',
  ].join('\n');
}

/** The rules of arm64 are for both; after each are the calls that x86_64 has besides. */
function table(ofX64: Rule[], ofArm64: Rule[]): string[] {
  return ofX64.flatMap((rule, index) => {
    const { names = [], ...end } = ofArm64[index] ?? {};
    const besides = rule.names.filter((name) => !names.includes(name));
    if (!isDeepStrictEqual(rule, { ...end, names: [...names, ...besides] }))
      throw new Error(
        `The rules of the processors differ by more than calls of x86_64: ${rule.names.join()}.`,
      );
    const lines = ruleLines({ ...rule, names });
    if (besides.length === 0) return lines;
    return [...lines, '    #[cfg(target_arch = "x86_64")]', ...ruleLines({ ...rule, names: besides })];
  });
}

function rulesOf(arch: string): Rule[] {
  const rules: Rule[] = [];
  for (const { names, action, errnoRet, args = [] } of seccompRules(arch).syscalls) {
    const start = action === 'SCMP_ACT_ALLOW' ? 'allow(&[' : `refuse(${errnoRet}, &[`;
    const conditions = args.map(condition).join(', ');
    const last = rules.at(-1);
    if (last?.start === start && isDeepStrictEqual(last.names, names)) last.cases.push(`&[${conditions}]`);
    else rules.push({ names, start, cases: [`&[${conditions}]`] });
  }
  return rules;
}

function condition({ index, value, valueTwo, op }: NonNullable<Call['args']>[number]): string {
  const [mask, bits] = op === 'SCMP_CMP_EQ' ? ['u64::MAX', value] : [hex(value), valueTwo ?? 0];
  return `bits(${index}, ${mask}, ${hex(bits)})`;
}

function ruleLines({ names, start, cases }: Rule): string[] {
  const calls = names.map((name) => `__NR_${name}`);
  const all = `    ${start}${calls.join(', ')}], &[`;
  const isShort = all.length <= MAX_COLUMNS;
  const [before, begin] = isShort ? [[], all] : [[`    ${start}`, ...wrapped(calls)], '    ], &['];
  const line = `${begin}${cases.join(', ')}]),`;
  return [...before, ...(line.length <= MAX_COLUMNS ? [line] : [begin, ...wrapped(cases), '    ]),'])];
}

function hex(value: number): string {
  return `0x${value.toString(16)}`;
}

function wrapped(words: string[]): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length + 2 <= MAX_COLUMNS)
      lines[lines.length - 1] = `${last} ${word},`;
    else lines.push(`        ${word},`);
  }
  return lines;
}
