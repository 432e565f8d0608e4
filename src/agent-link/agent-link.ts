/**
 * Host's end of the agent protocol: every operation is one channel and one round trip.
 * Replies are hostile input; a reply that does not fit its schema gives `unavailable`.
 */
import { X509Certificate } from 'node:crypto';
import type { AgentLink, AgentProcesses, AgentTunnels } from '../control/ports/index.ts';
import { subjectHash } from '../model/certificates/certificate.ts';
import { limits } from '../model/limits.ts';
import { type Ask, call, tooSlow } from './call.ts';
import { contextsOf } from './contexts.ts';
import { detachedOf } from './detached.ts';
import { type AnswerSink, Exchange, type OpenChannel } from './exchange.ts';
import { executionOf } from './execution.ts';
import { filesOf, openReadStream } from './files.ts';
import { ProtocolError } from './frames.ts';
import { openListener } from './port-listener.ts';
import { emptyReply, helloReply, parseReply, portsReply, unavailable } from './replies.ts';
import { protocolVersions } from './request.ts';
import { openRunningProcess, sizeOf } from './running-process.ts';
import { searchOf } from './search.ts';
import { sessionsOf } from './sessions.ts';
import { terminalsOf } from './terminals.ts';
import { openTunnel } from './tunnel-stream.ts';
import { watchingOf } from './watching.ts';

interface AgentLinkOptions {
  openChannel: OpenChannel;
  /** Certificates (PEM) that `trust` gives to systems that have none of their own. */
  roots?: string | null;
}

export function createAgentLink({ openChannel, roots = null }: AgentLinkOptions): AgentLink {
  const ask: Ask = async (id, options, parse) => {
    const answer = await call(openChannel, id, options);
    return guarded(() => parse(answer));
  };
  const versions = new SpokenVersions();
  const greet = async (id: string, generation: number) => {
    const request = { op: 'hello' as const, versions: protocolVersions, sandbox_id: id, generation };
    const { reply } = await call(openChannel, id, {
      request,
      timeoutMs: limits.helloTimeoutMs,
      reply: helloReply,
    });
    const { version, sandbox_id, generation: own } = reply;
    if (!protocolVersions.includes(version) || sandbox_id !== id || own !== generation) {
      throw unavailable('Another sandbox answers in its place.');
    }
    versions.note(id, { generation, version });
    return reply;
  };
  const versionOf = async (id: string, generation: number) =>
    versions.of(id, generation) ?? (await greet(id, generation)).version;
  return {
    hello: async (id, generation) => ({ persistence: (await greet(id, generation)).persistence ?? null }),
    watch: (id, signal) => watch(openChannel, id, signal),
    readStream: (id, query, signal) => openReadStream(openChannel, id, query, signal),
    ...executionOf(ask, versionOf),
    ...filesOf(ask),
    ...watchingOf(openChannel),
    ...processesOf(openChannel),
    ...contextsOf(ask, versionOf),
    ...detachedOf(openChannel, ask),
    ...tunnelsOf(openChannel, ask),
    ...searchOf(ask),
    ...sessionsOf(ask, versionOf),
    ...terminalsOf(openChannel, ask),
    ...trustOf(ask, roots),
  };
}

async function guarded<T>(parse: () => T | Promise<T>): Promise<T> {
  try {
    return await parse();
  } catch (error) {
    if (error instanceof ProtocolError) {
      throw unavailable("The sandbox's agent does not keep to the protocol.", error);
    }
    throw error;
  }
}

/** Resolves at every end of the channel. */
function watch(openChannel: OpenChannel, id: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const sink: AnswerSink = {
      item() {
        throw new ProtocolError('an item on a watch');
      },
      reply(json) {
        parseReply(emptyReply, json);
        exchange.relax();
        return true;
      },
      data() {
        throw new ProtocolError('data on a watch');
      },
      done: () => resolve(),
      failed: () => resolve(),
    };
    const exchange = new Exchange(sink, signal);
    exchange.expect(limits.helloTimeoutMs, () => unavailable("The sandbox's agent does not answer."));
    void exchange.open(openChannel, id).then(() => {
      exchange.send({ op: 'watch' });
    });
  });
}

/** Agent operations that run interactive programs. */
export function processesOf(openChannel: OpenChannel): AgentProcesses {
  return {
    openProcess: (id, { user, argv, cwd, env, terminal }, signal) => {
      const size = terminal && sizeOf(terminal);
      const request = { op: 'process' as const, user, argv, cwd, env, terminal: size };
      return openRunningProcess(openChannel, id, request, signal);
    },
    openSftp: (id, { user } = {}, signal) =>
      openRunningProcess(openChannel, id, { op: 'sftp', user }, signal),
  };
}

/** @param roots Certificates (PEM) for systems that have none of their own. */
function trustOf(ask: Ask, roots: string | null): Pick<AgentLink, 'trust'> {
  const given = roots === null ? {} : { roots };
  return {
    trust: (id, certificate) =>
      ask(
        id,
        {
          request: { op: 'trust', certificate, subject_hash: hashOf(certificate), ...given },
          timeoutMs: limits.helloTimeoutMs,
          reply: emptyReply,
        },
        () => {},
      ),
  };
}

/** Authorities have a common name alone. */
function hashOf(certificate: string): string {
  return subjectHash(new X509Certificate(certificate).subject.replace(/^CN=/, ''));
}

/** Agent operations for connections to and from the sandbox's own loopback. */
function tunnelsOf(openChannel: OpenChannel, ask: Ask): AgentTunnels {
  return {
    connectPort: (id, port, signal, host) =>
      openTunnel(openChannel, id, { op: 'tcp', port, ...(host === undefined ? {} : { host }) }, signal),
    listenPort: (id, request, onConnection, signal) =>
      openListener(openChannel, id, request, onConnection, signal),
    ports: (id, signal) =>
      ask(
        id,
        {
          request: { op: 'ports' },
          signal,
          timeoutMs: limits.fileOperationMs,
          timeoutError: tooSlow,
          reply: portsReply,
        },
        ({ reply }) =>
          reply.ports.map(({ port, name, pid = null, command = null }) => ({ port, name, pid, command })),
      ),
  };
}

interface Known {
  generation: number;
  version: number;
}

/** Versions of the protocol that agents speak, by sandbox and run: an agent is replaced at a start, and only then. */
class SpokenVersions {
  readonly #known = new Map<string, Known>();

  note(id: string, known: Known): void {
    this.#known.delete(id);
    this.#known.set(id, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > limits.live.knownAgents && oldest !== undefined) this.#known.delete(oldest);
  }

  /** Returns null for an agent that has yet to greet. */
  of(id: string, generation: number): number | null {
    const known = this.#known.get(id);
    return known?.generation === generation ? known.version : null;
  }
}
