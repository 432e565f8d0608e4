/**
 * Queries the resolvers that the host itself uses. Every query has a fresh socket, and so a random port, and a
 * random id; only that resolver's reply to that question is accepted.
 */
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { readFileSync, statSync } from 'node:fs';
import { connect, isIP } from 'node:net';
import { limits } from '../../../../model/limits.ts';
import { type Answer, parseAnswer } from './answer.ts';
import { encodeQuery } from './query.ts';
import { frame, readFrames } from './wire.ts';

const { dnsUpstreamTimeoutMs, dnsTimeoutMs, dnsUdpBytes, dnsWrongAnswers } = limits.network;
const port = 53;
const maxTcpAnswerBytes = 65_535;

export interface Upstream {
  /**
   * Queries over UDP, and over TCP when `whole` is set and the answer did not fit. Fails when no resolver answers
   * within the timeouts; aborting ends it at once.
   */
  ask(question: Buffer, whole: boolean, signal: AbortSignal): Promise<Answer>;
}

/** @param excluded Our own address, which must never be queried. */
export function createUpstream(resolvConfPath: string, excluded: string): Upstream {
  const servers = resolvConf(resolvConfPath, excluded);
  /** Resolver that answered last; it is queried first. */
  let preferred = '';
  return {
    async ask(question, whole, signal) {
      const deadline = AbortSignal.any([signal, AbortSignal.timeout(dnsTimeoutMs)]);
      const ordered = servers().sort((a, b) => Number(b === preferred) - Number(a === preferred));
      for (const server of ordered) {
        const attempt = AbortSignal.any([deadline, AbortSignal.timeout(dnsUpstreamTimeoutMs)]);
        let answer = await askUdp(server, question, attempt).catch(() => null);
        if (answer?.truncated && whole) answer = await askTcp(server, question, attempt).catch(() => null);
        if (answer) {
          preferred = server;
          return answer;
        }
        deadline.throwIfAborted();
      }
      throw new Error('no resolver answered');
    },
  };
}

function askUdp(server: string, question: Buffer, signal: AbortSignal): Promise<Answer> {
  const id = randomInt(65_536);
  const socket = createSocket(isIP(server.split('%')[0] ?? '') === 6 ? 'udp6' : 'udp4');
  return new Promise<Answer>((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    socket.on('error', reject);
    let wrong = 0;
    socket.on('message', (message) => {
      const answer = parseAnswer(message, id, question);
      if (answer) resolve(answer);
      else if (++wrong >= dnsWrongAnswers) reject(new Error('too many wrong replies'));
    });
    socket.on('connect', () => socket.send(encodeQuery(id, question, dnsUdpBytes)));
    socket.connect(port, server);
    signal.throwIfAborted();
  }).finally(() => socket.close());
}

function askTcp(server: string, question: Buffer, signal: AbortSignal): Promise<Answer> {
  const id = randomInt(65_536);
  const socket = connect({ host: server, port, signal });
  return new Promise<Answer>((resolve, reject) => {
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('closed')));
    readFrames(socket, maxTcpAnswerBytes, (message) => {
      const answer = parseAnswer(message, id, question);
      if (answer) resolve(answer);
      else socket.destroy();
    });
    socket.write(frame(encodeQuery(id, question, dnsUdpBytes)));
  }).finally(() => socket.destroy());
}

const maxServers = 3;

/**
 * Returns the resolvers of the host at each call. Reads the file again when it has changed; checks it at most once a
 * second.
 * @param excluded Our own address, which must never be queried.
 */
export function resolvConf(path: string, excluded: string): () => string[] {
  let lookedAt = -Infinity;
  let version = '';
  let servers: string[] = [];
  return () => {
    if (performance.now() - lookedAt < 1_000) return [...servers];
    lookedAt = performance.now();
    try {
      const { mtimeMs, ino, size } = statSync(path);
      const seen = `${mtimeMs} ${ino} ${size}`;
      if (seen !== version) servers = parseResolvConf(readFileSync(path, 'utf8'));
      version = seen;
    } catch {
      // The file is being replaced: keep the known servers.
    }
    return servers.filter((server) => server !== excluded);
  };
}

/** Reads resolv.conf like the C library: the first three name servers, or this host without any. */
export function parseResolvConf(text: string): string[] {
  const servers = text.split('\n').flatMap((line) => {
    const [keyword, address = ''] = line.trim().split(/\s+/);
    return keyword === 'nameserver' && isIP(address.split('%')[0] ?? '') ? [address] : [];
  });
  return servers.length > 0 ? servers.slice(0, maxServers) : ['127.0.0.1'];
}
