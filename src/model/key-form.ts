/** API keys in the form that E2B's clients insist on: a prefix and hexadecimal digits, which hold the key itself. */

const PREFIX = 'e2b_';

export const keyForms = ['sandhaven', 'e2b'] as const;
export type KeyForm = (typeof keyForms)[number];

export function keyInForm(key: string, form: KeyForm): string {
  return form === 'e2b' ? PREFIX + Buffer.from(key).toString('hex') : key;
}

/** Returns the key of either form as it is checked; what is in neither stays as it is, and opens nothing. */
export function keyOfForm(text: string): string {
  const [, digits] = /^e2b_((?:[0-9a-f]{2})+)$/.exec(text) ?? [];
  return digits === undefined ? text : Buffer.from(digits, 'hex').toString();
}
