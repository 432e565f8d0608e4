/** What was going on when something took too long: operations, Pods with their conditions, and lines of logs. */
import type { Cluster } from '../cluster.ts';
import type { ClusterInstallation } from '../kubernetes/installation.ts';

interface Pod {
  metadata: { name: string; deletionTimestamp?: string };
  spec: { nodeName?: string };
  status: object;
}

const LINE_CHARS = 600;

/** Operations in progress, and what the cluster says about all Pods. */
export async function goingOn({ api }: Cluster, installation: ClusterInstallation): Promise<string> {
  const { postgres, database } = installation;
  const sql = 'SELECT id, state, operation, generation, holder FROM sandboxes WHERE operation IS NOT NULL';
  const open = await postgres.query(database, sql);
  const { items } = (await api.get('/api/v1/namespaces/default/pods')) as { items: Pod[] };
  const pods = items.map(({ metadata, spec, status }) => {
    const { name, deletionTimestamp } = metadata;
    return { name, deletionTimestamp, node: spec.nodeName, ...status };
  });
  return [...open, ...pods].map((each) => JSON.stringify(each)).join('\n');
}

/** Warnings and errors of a log, and all lines about sandboxes that the text names. */
export function linesAbout(text: string, log: string): string {
  const named = [...new Set(text.match(/sb_[0-9a-z]{16}/g))];
  const tells = (line: string) =>
    !line.includes('"level":"info"') || named.some((sandbox) => line.includes(sandbox));
  return log
    .split('\n')
    .filter(tells)
    .map((line) => line.slice(0, LINE_CHARS))
    .join('\n');
}
