/**
 * Rust tables of the system call filter and the hidden paths of a machine, for an agent that begins in a container of
 * somebody else's making: `src/runtime/oci/machine` stays their only source.
 */
import { MASKED_PATHS } from '../../src/runtime/oci/machine/masked-paths.ts';
import { type Seccomp, seccompRules } from '../../src/runtime/oci/machine/seccomp.ts';

type Rule = Seccomp['syscalls'][number];

const MAX_COLUMNS = 110;

export function generateAgentFilter(): string {
  return [
    '//! Made by `make generate` from src/runtime/oci/machine/seccomp.ts and masked-paths.ts. Do not edit.',
    '',
    'use linux_raw_sys::general::*;',
    '',
    'use crate::rule::{Condition, Rule, allow, refuse};',
    '',
    '/// Hidden in /proc and /sys, where the host has them.',
    'pub const MASKED_PATHS: &[&str] = &[',
    ...wrapped(MASKED_PATHS.map((path) => JSON.stringify(path))),
    '];',
    ...table('x86_64', 'x64'),
    ...table('aarch64', 'arm64'),
    '',
  ].join('\n');
}

function table(target: string, arch: string): string[] {
  return [
    '',
    `#[cfg(target_arch = "${target}")]`,
    'pub const RULES: &[Rule] = &[',
    ...seccompRules(arch).syscalls.flatMap(ruleLines),
    '];',
  ];
}

function ruleLines({ names, action, errnoRet, args = [] }: Rule): string[] {
  const conditions = args.map(({ index, value, valueTwo, op }) => {
    const [mask, bits] = op === 'SCMP_CMP_EQ' ? ['u64::MAX', value] : [hex(value), valueTwo ?? 0];
    return `Condition { index: ${index}, mask: ${mask}, bits: ${hex(bits)} }`;
  });
  const end = `], &[${conditions.join(', ')}]),`;
  const start = action === 'SCMP_ACT_ALLOW' ? 'allow(&[' : `refuse(${errnoRet}, &[`;
  const calls = names.map((name) => `__NR_${name}`);
  const line = `    ${start}${calls.join(', ')}${end}`;
  return line.length <= MAX_COLUMNS ? [line] : [`    ${start}`, ...wrapped(calls), `    ${end}`];
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
