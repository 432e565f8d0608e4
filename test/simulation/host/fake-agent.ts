/** Agents of the machines of a host in memory: what the lifecycle asks of them, and files. */
import type {
  AgentLink,
  DetachedOverview,
  FileUpload,
  SessionsOverview,
  TerminalsOverview,
} from '../../../src/control/ports/index.ts';
import { SandhavenError } from '../../../src/model/errors.ts';
import type { MemoryHost } from './memory-host.ts';

export interface FakeAgentOptions {
  host: MemoryHost;
  point(label: string): Promise<void>;
  /** Resolves when the simulation delivers the news; cannot fail. */
  answer(label: string): Promise<void>;
  /** Milliseconds since a session command ended; null when none ever has. */
  idleMs(id: string): number | null;
}

type FakeAgent = Pick<
  AgentLink,
  | 'hello'
  | 'trust'
  | 'startBackground'
  | 'watch'
  | 'listSessions'
  | 'listTerminals'
  | 'listDetached'
  | 'write'
  | 'read'
>;

export function createFakeAgent({ host, point, answer, idleMs }: FakeAgentOptions): FakeAgent {
  const reached = async (id: string, label: string) => {
    await point(`agent: ${label}`);
    const disk = host.running(id) && !host.isAway(id) && host.sandboxes.get(id)?.disk;
    if (!disk) throw away();
    return disk;
  };
  return {
    async hello(id, generation) {
      await reached(id, 'hello');
      if (host.running(id)?.generation !== generation) throw away();
      return { persistence: null };
    },
    async trust(id, certificate) {
      await reached(id, 'trust a certificate');
      host.trusted.set(id, certificate);
    },
    async startBackground(id) {
      await reached(id, 'start the entrypoint');
    },
    async watch(id, signal) {
      const machine = host.running(id);
      if (!machine) return answer('agent: nobody to watch');
      const ended = Promise.withResolvers<void>();
      const end = () => void answer('agent: watch ends').then(ended.resolve);
      const abort = () => ended.resolve();
      machine.onEnd.add(end);
      signal.addEventListener('abort', abort, { once: true });
      await ended.promise;
      machine.onEnd.delete(end);
      signal.removeEventListener('abort', abort);
    },
    async listSessions(id): Promise<SessionsOverview> {
      await reached(id, 'list sessions');
      return { sessions: [], busy: false, idleMs: idleMs(id) };
    },
    async listTerminals(id): Promise<TerminalsOverview> {
      await reached(id, 'list terminals');
      return { terminals: [], busy: false, idleMs: null };
    },
    async listDetached(id): Promise<DetachedOverview> {
      await reached(id, 'list processes');
      return { processes: [], busy: false, idleMs: null };
    },
    async write(id, { path, content }: FileUpload) {
      const disk = await reached(id, 'write');
      const created = !disk.files.has(path);
      disk.files.set(path, String(content));
      host.changed.add(id);
      await point('agent: written');
      return { bytesWritten: 0, created };
    },
    async read(id, { path }) {
      const content = (await reached(id, 'read')).files.get(path);
      if (content === undefined) throw new SandhavenError('not_found', 'There is no such file.', {});
      const bytes = Buffer.from(content);
      return { content: bytes, size: bytes.length, totalLines: 1, startLine: 1, endLine: 1 };
    },
  };
}

function away(): SandhavenError {
  return new SandhavenError('unavailable', 'The agent does not answer.', { retryable: true });
}
