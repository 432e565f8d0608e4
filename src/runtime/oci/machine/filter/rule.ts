/** Rule of a system call filter, in the form of an OCI configuration. */
export interface SeccompRule {
  names: string[];
  action: 'SCMP_ACT_ALLOW' | 'SCMP_ACT_ERRNO';
  errnoRet?: number;
  args?: SeccompArgument[];
}

export interface SeccompArgument {
  index: number;
  value: number;
  valueTwo?: number;
  op: 'SCMP_CMP_EQ' | 'SCMP_CMP_MASKED_EQ';
}

/** @param names Calls with the same argument share one rule, since runc parses each rule at every start. */
export function allow(names: string | string[], ...args: SeccompArgument[]): SeccompRule {
  return { names: [names].flat(), action: 'SCMP_ACT_ALLOW', args };
}

/** @param errnoRet Error number of the call. */
export function refuse(name: string, errnoRet: number, ...args: SeccompArgument[]): SeccompRule {
  return { names: [name], action: 'SCMP_ACT_ERRNO', errnoRet, args };
}

/** Compares the bits under the mask. The kernel reads 32 bits of ids, commands and flags; those above never count. */
export function masked(index: number, mask: number, bits: number): SeccompArgument {
  return { index, value: mask, valueTwo: bits, op: 'SCMP_CMP_MASKED_EQ' };
}

/** Numbers from `first` on; `count` is a power of two, and `first` a multiple of it. */
export type Range = readonly [first: number, count: number];

/** Compares the low 32 bits. */
export function within(index: number, [first, count]: Range): SeccompArgument {
  return masked(index, 0xffffffff - (count - 1), first);
}

export function words(text: string): string[] {
  return text.trim().split(/\s+/);
}
