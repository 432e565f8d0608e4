/** One rule of a system call filter, as an OCI configuration has it. */
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

/** @param names Several share a rule where they take the same argument: runc parses each at every start. */
export function allow(names: string | string[], ...args: SeccompArgument[]): SeccompRule {
  return { names: [names].flat(), action: 'SCMP_ACT_ALLOW', args };
}

/** @param errnoRet What the call fails with. */
export function refuse(name: string, errnoRet: number, ...args: SeccompArgument[]): SeccompRule {
  return { names: [name], action: 'SCMP_ACT_ERRNO', errnoRet, args };
}

/** The argument's bits under the mask are these. Of ids, commands and flags the kernel reads 32 bits, so those above never count. */
export function masked(index: number, mask: number, bits: number): SeccompArgument {
  return { index, value: mask, valueTwo: bits, op: 'SCMP_CMP_MASKED_EQ' };
}
