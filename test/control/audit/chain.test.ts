/** Hash chain of the audit log: each row depends on the key, on its fields and on all rows before it. */
import { describe, expect, it } from 'vitest';
import { AuditChain, same } from '../../../src/control/audit/chain.ts';
import type { AuditRow } from '../../../src/model/audit.ts';

const chain = new AuditChain(Buffer.alloc(32, 7));
const stranger = new AuditChain(Buffer.alloc(32, 8));

const row: Omit<AuditRow, 'hash' | 'sequence'> = {
  ...{ time: 1, action: 'Sandbox.RunCommand', transport: 'http', outcome: 'ok', durationMs: 2 },
  ...{ userId: 'user_1', keyId: 'key_1', sandboxId: 'sb_1', clientAddress: '::1', requestId: 'req_1' },
  count: null,
};

/** HMAC-SHA-256 with the first key, of `1 origin` and of `1 row`, a line end each, the origin and the row's fields. */
const ORIGIN = '578cde0bbab8d6807975c51e89f0468338e41bf75334076bf598fef0acdc12e9';
const FIRST = 'e9da1f889f8c8527d55f70d0ce9e743b7d92590e2339e7b891a7f23e591f645f';

describe('a link', () => {
  it('has the next number, and the hash of the row after that end', () => {
    const first = chain.link(chain.origin, row);
    expect(first).toEqual({ ...row, sequence: 1, hash: chain.hashOf(chain.origin.hash, first) });
    expect(chain.link(first, row).sequence).toBe(2);
  });

  it('has the hash that a log of this format has had so far', () => {
    expect(chain.origin).toEqual({ sequence: 0, hash: Buffer.from(ORIGIN, 'hex') });
    expect(chain.link(chain.origin, row).hash.toString('hex')).toBe(FIRST);
  });

  it.each([
    ...[{ time: 2 }, { action: 'Sandbox.GetSandbox' }, { transport: 'mcp' }, { outcome: 'not_found' }],
    ...[{ durationMs: 3 }, { userId: null }, { keyId: 'key_2' }, { sandboxId: null }],
    ...[{ clientAddress: '::2' }, { requestId: 'req_2' }, { count: 0 }],
    ...[{ teamId: 'team_1' }, { madeBy: 'user_2' }],
  ] as Partial<AuditRow>[])('has another hash with %o', (change) => {
    expect(
      same(chain.link(chain.origin, { ...row, ...change }).hash, chain.link(chain.origin, row).hash),
    ).toBe(false);
  });

  it('has another hash with a team than with a maker of that id', () => {
    const [team, maker] = [{ teamId: 'user_2' }, { madeBy: 'user_2' }].map(
      (more) => chain.link(chain.origin, { ...row, ...more }).hash,
    );
    expect(team?.equals(maker ?? Buffer.alloc(0))).toBe(false);
  });

  it('has another hash at another place, and with another key', () => {
    const first = chain.link(chain.origin, row);
    expect(same(chain.link(first, row).hash, first.hash)).toBe(false);
    expect(same(chain.hashOf(first.hash, { ...row, sequence: 1 }), first.hash)).toBe(false);
    expect(same(stranger.link(chain.origin, row).hash, first.hash)).toBe(false);
  });
});

describe('a seal', () => {
  const end = { sequence: 7, hash: Buffer.alloc(32, 1) };
  const sealed = chain.seal('anchor', end);

  it('gives its end again to the same key and purpose', () => {
    expect(chain.unseal('anchor', sealed)).toEqual(end);
  });

  it('gives nothing to another key, another purpose, another end, or nobody', () => {
    expect(stranger.unseal('anchor', sealed)).toBeNull();
    expect(chain.unseal('checkpoint', sealed)).toBeNull();
    expect(chain.unseal('anchor', { ...sealed, sequence: 8 })).toBeNull();
    expect(chain.unseal('anchor', { ...sealed, hash: Buffer.alloc(32, 2) })).toBeNull();
    expect(chain.unseal('anchor', { ...sealed, seal: sealed.seal.subarray(1) })).toBeNull();
    expect(chain.unseal('anchor', null)).toBeNull();
  });
});
