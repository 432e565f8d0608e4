/** Maps an event of the service to the queries that it makes old. */

export interface Change {
  kind: 'sandbox' | 'snapshot' | 'user' | 'key' | 'audit' | 'registry';
  /** Of the thing that changed; null where many did. */
  id: string | null;
}

const roots: Record<Change['kind'], string[]> = {
  sandbox: ['sandboxes', 'users'],
  snapshot: ['snapshots', 'users'],
  user: ['users', 'sign-in'],
  key: ['keys'],
  audit: ['audit'],
  registry: ['registries'],
};

/** @returns null for an event of a kind that this page does not show. */
export function changeOf(data: string): Change | null {
  try {
    const { kind, id } = JSON.parse(data) as { kind?: unknown; id?: unknown };
    if (typeof kind !== 'string' || !Object.hasOwn(roots, kind)) return null;
    return { kind: kind as Change['kind'], id: typeof id === 'string' ? id : null };
  } catch {
    return null;
  }
}

/** Query keys; each stands for all that begin with it. */
export function queriesOf({ kind, id }: Change): string[][] {
  const keys = roots[kind].map((root) => [root]);
  if (kind !== 'sandbox') return keys;
  return [...keys, id === null ? ['sandbox'] : ['sandbox', id]];
}
