/** Ways into one sandbox besides the key of its owner. */

/** All that a revocation ends: `token` is the sandbox's own tokens, which have no rows. */
export const waysInside = ['ssh', 'preview', 'token'] as const;
export type WayInside = (typeof waysInside)[number];

/** Ports that everybody may visit without a token. */
export type PublicPorts = 'all' | readonly number[];

/** The one sandbox that a token opens. */
export interface OneSandbox {
  sandboxId: string;
  /** Number of revocations before the token was made. */
  epoch: number;
}

const ID = /^tok_[a-z2-7]{16}$/;
const TOKEN = /^sbt_([0-9a-z]{16})_([0-9a-z]{1,16})_([0-9a-z]{1,9})_([a-z2-7]{26})$/;

/** A token of a sandbox as its holder sends it. */
export interface SandboxToken {
  sandboxId: string;
  /** Tells tokens of one end apart. */
  nonce: string;
  /** Milliseconds since the epoch; null: none. */
  expiresAt: number | null;
  signature: string;
}

/** Returns null for what has another form. The signature is not looked at. */
export function readSandboxToken(text: string): SandboxToken | null {
  const [, id, nonce = '', end = '', signature = ''] = TOKEN.exec(text) ?? [];
  if (id === undefined) return null;
  const expiresAt = Number.parseInt(end, 36);
  return { sandboxId: `sb_${id}`, nonce, expiresAt: expiresAt === 0 ? null : expiresAt, signature };
}

export function writeSandboxToken({ sandboxId, nonce, expiresAt, signature }: SandboxToken): string {
  return `sbt_${sandboxId.slice(3)}_${nonce}_${(expiresAt ?? 0).toString(36)}_${signature}`;
}

/** Returns true for the id of such a token: in place of a key's, for logs. */
export function isSandboxTokenId(id: string): boolean {
  return ID.test(id);
}
