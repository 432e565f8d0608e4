/** Rows of preview visits: whom they name, and how many there are. */
import { describe, expect, it } from 'vitest';
import type { AuditSubject } from '../../../src/control/audit/audit.ts';
import { PreviewGrants } from '../../../src/control/audit/preview-grants.ts';

const grant = { sandboxId: 'sb_1', ownerId: 'user_1', port: 80, tokenId: 'tok_1', address: '::1' };

function setUp() {
  const time = { now: 0 };
  const callers: AuditSubject['caller'][] = [];
  const note = ({ caller }: AuditSubject) => void callers.push(caller);
  return { time, callers, grants: new PreviewGrants({ note }, { now: () => time.now }) };
}

describe('a preview visit', () => {
  it('is noted with the user who owns the sandbox', () => {
    const { grants, callers } = setUp();
    grants.note(grant);
    expect(callers).toEqual([{ id: 'user_1', keyId: 'tok_1' }]);
  });

  it('is noted with the team that owns the sandbox, and no user', () => {
    const { grants, callers } = setUp();
    grants.note({ ...grant, ownerId: 'team_0000000000000001' });
    expect(callers).toEqual([{ id: null, keyId: 'tok_1', team: { id: 'team_0000000000000001' } }]);
  });

  it('is noted once in ten minutes for each port, token and address', () => {
    const { grants, callers, time } = setUp();
    for (const one of [grant, grant, { ...grant, port: 81 }, { ...grant, address: '::2' }]) grants.note(one);
    expect(callers).toHaveLength(3);
    time.now = 599_999;
    grants.note(grant);
    expect(callers).toHaveLength(3);
    time.now = 600_000;
    grants.note(grant);
    expect(callers).toHaveLength(4);
  });
});
