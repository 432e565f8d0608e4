/** Sign-ins in memory. */
import type { Store } from '../../../src/control/ports/index.ts';
import type { IdentityProviderSession } from '../../../src/model/access/identity.ts';
import type { SignIn, SignInTokens } from '../../../src/model/access/sign-ins.ts';
import { limits } from '../../../src/model/limits.ts';
import { memoryIdentities } from './memory-identities.ts';
import { memoryWaysIn } from './memory-ways-in.ts';

type People = Pick<Store, 'users' | 'keys'>;

export function memorySignIns({ users, keys }: People): Pick<Store, 'signIns' | 'identities'> {
  const rows = new Map<string, { signIn: SignIn; tokens: SignInTokens }>();
  const sessions = new Map<string, IdentityProviderSession>();
  let links: { hash: Buffer; userId: string; expiresAt: number; createdBy: string | null }[] = [];
  const ways = memoryWaysIn(users);
  ways.count(
    'links',
    (userId, now) => links.filter((link) => link.userId === userId && link.expiresAt > now).length,
  );
  const identities = memoryIdentities(users, (isEnded) => {
    const ids = [...rows.keys()].filter((id) => {
      const session = sessions.get(id);
      return session !== undefined && isEnded(session);
    });
    for (const id of ids) rows.delete(id);
    return ids;
  });
  const sorted = (userId: string | null) =>
    [...rows.values()]
      .map(({ signIn }) => signIn)
      .filter((one) => userId === null || one.userId === userId)
      .reverse()
      .sort((a, b) => b.lastUsedAt - a.lastUsedAt);
  const linkerOf = async ({ issuer, subject }: IdentityProviderSession, userId: string) => {
    const linked = await identities.listIdentities(userId, { page: 1, pageSize: limits.identity.perUser });
    return linked.identities.find((one) => one.issuer === issuer && one.subject === subject)?.linkedBy;
  };
  const isSame = (a: Buffer | null, b: Buffer | null) => (a && b ? a.equals(b) : a === b);
  return {
    identities,
    signIns: {
      async addSignIn(signIn, tokens, session) {
        if (session) sessions.set(signIn.id, session);
        const linkedBy = session && (await linkerOf(session, signIn.userId));
        rows.set(
          signIn.id,
          structuredCopy({ signIn: { ...signIn, madeBy: linkedBy ?? signIn.madeBy }, tokens }),
        );
        ways.enter(signIn.userId, signIn.createdAt);
        const surplus = sorted(signIn.userId).slice(limits.signIn.perUser);
        for (const { id } of surplus) rows.delete(id);
        return surplus.map(({ id }) => id);
      },
      async findSignIn(id, now) {
        const row = rows.get(id);
        const user = row && (await users.findUser(row.signIn.userId));
        if (!row || !user || user.disabledAt !== null) return null;
        const { keyId } = row.signIn;
        const key = keyId === null ? null : await keys.find(keyId);
        if (keyId !== null && !key) return null;
        if (key && (key.revokedAt !== null || (key.expiresAt ?? Number.POSITIVE_INFINITY) <= now))
          return null;
        const { name, email, role } = user;
        return {
          ...structuredCopy(row),
          user: { id: user.id, name, email, role },
          scopes: key?.scopes ?? null,
        };
      },
      async replaceTokens(id, before, after) {
        const row = rows.get(id);
        if (!row || !isSame(row.tokens.hash, before.hash)) return false;
        if (!isSame(row.tokens.nextHash, before.nextHash)) return false;
        row.tokens = { ...after };
        return true;
      },
      async listSignIns(userId, { page, pageSize }) {
        const all = sorted(userId);
        return { signIns: all.slice((page - 1) * pageSize, page * pageSize), totalCount: all.length };
      },
      async removeSignIn(id, userId) {
        const signIn = sorted(userId).find((one) => one.id === id);
        if (!signIn) return null;
        rows.delete(id);
        return signIn;
      },
      async removeSignInsOfKey(keyId) {
        const ids = sorted(null)
          .filter((one) => one.keyId === keyId)
          .map(({ id }) => id);
        for (const id of ids) rows.delete(id);
        return ids;
      },
      async removeOtherSignIns(userId, keptId) {
        const ids = sorted(userId)
          .map(({ id }) => id)
          .filter((id) => id !== keptId);
        for (const id of ids) rows.delete(id);
        return ids;
      },
      async touchSignIns(used) {
        for (const [id, at] of used) {
          const row = rows.get(id);
          if (row) row.signIn = { ...row.signIn, lastUsedAt: Math.max(at, row.signIn.lastUsedAt) };
        }
      },
      async pruneSignIns(now, idleSince) {
        for (const [id, { signIn }] of rows)
          if (signIn.expiresAt <= now || signIn.lastUsedAt <= idleSince) rows.delete(id);
        links = links.filter(({ expiresAt }) => expiresAt > now);
      },
      async addLink(hash, userId, { now, expiresAt, by }) {
        ways.assert(by, userId, now);
        links.unshift({ hash, userId, expiresAt, createdBy: by?.id ?? null });
        const own = links.filter((link) => link.userId === userId);
        const surplus = own.sort((a, b) => b.expiresAt - a.expiresAt).slice(limits.signIn.linksPerUser);
        links = links.filter((link) => !surplus.includes(link));
      },
      async takeLink(hash, now) {
        const link = links.find((one) => one.hash.equals(hash));
        links = links.filter((one) => one !== link);
        return link && link.expiresAt > now ? { userId: link.userId, createdBy: link.createdBy } : null;
      },
    },
  };
}

/** structuredClone would make plain arrays of buffers. */
function structuredCopy<T extends { signIn: SignIn; tokens: SignInTokens }>({ signIn, tokens }: T) {
  return { signIn: { ...signIn }, tokens: { ...tokens } };
}
