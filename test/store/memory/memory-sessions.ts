/** Sessions in memory. */
import type { KeptCommand, SandboxStore, Store } from '../../../src/control/ports/index.ts';
import { limits } from '../../../src/model/limits.ts';

interface Noted {
  createdAtMs: number;
  logs: KeptCommand[];
}

export function memorySessions(sandboxes: SandboxStore): Pick<Store, 'sessions'> {
  const rows = new Map<string, Map<string, Noted>>();
  const of = async (sandboxId: string) =>
    (await sandboxes.get(sandboxId)) ? (rows.get(sandboxId) ?? new Map<string, Noted>()) : new Map();
  return {
    sessions: {
      note: async (sandboxId, sessionId, createdAtMs) => {
        const noted = (await of(sandboxId)).set(sessionId, { createdAtMs, logs: [] });
        const newest = [...noted].sort(
          ([a, { createdAtMs: x }], [b, { createdAtMs: y }]) => y - x || (a < b ? -1 : 1),
        );
        rows.set(sandboxId, new Map(newest.slice(0, limits.session.noted)));
      },
      forget: async (sandboxId, sessionId) => void (await of(sandboxId)).delete(sessionId),
      knows: async (sandboxId, sessionId) => {
        const noted = await of(sandboxId);
        return sessionId === undefined ? noted.size > 0 : noted.has(sessionId);
      },
      keepLogs: async (sandboxId, logs) => {
        const noted = await of(sandboxId);
        for (const [sessionId, kept] of logs) {
          const row = noted.get(sessionId);
          if (row) row.logs = structuredClone(kept);
        }
      },
      logs: async (sandboxId, sessionId) => structuredClone((await of(sandboxId)).get(sessionId)?.logs ?? []),
      dropLogs: async (sandboxId) => {
        for (const row of (await of(sandboxId)).values()) row.logs = [];
      },
    },
  };
}
