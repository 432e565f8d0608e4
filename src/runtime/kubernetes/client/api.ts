/**
 * A client of the Kubernetes API for the few verbs that the service uses. docs/internals/kubernetes.md has the figures of
 * `@kubernetes/client-node`, which lost.
 */
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { limits } from '../../../model/limits.ts';
import { operatorNames } from '../../../outbound/operator-names.ts';
import type { Connection } from './connection.ts';
import { ApiFailure, isBusy } from './failure.ts';
import type { List } from './objects.ts';

const { kubernetes: bounds } = limits;

export interface CallSettings {
  query?: Record<string, string>;
  signal?: AbortSignal | undefined;
}

export type PatchKind = 'merge' | 'strategic-merge' | 'json';

/** Rejects with an ApiFailure for an answer that is no success, and with the system's error when there is none. */
export interface Api {
  readonly server: URL;
  get<T>(path: string, settings?: CallSettings): Promise<T>;
  /** Reads all pages, and calls back with each. Resolves to the list's version. */
  list<T>(
    path: string,
    take: (items: T[]) => void,
    settings: CallSettings & { metadataOnly?: boolean },
  ): Promise<string>;
  /** Repeated while others change a quota of the namespace at once. */
  create<T>(path: string, body: object, settings?: CallSettings): Promise<T>;
  replace<T>(path: string, body: object, settings?: CallSettings): Promise<T>;
  patch<T>(path: string, body: object, kind: PatchKind, settings?: CallSettings): Promise<T>;
  remove(path: string, body?: object, settings?: CallSettings): Promise<void>;
  /** Opens a watch, whose bytes the caller reads. */
  watch(
    path: string,
    query: Record<string, string>,
    options: { signal: AbortSignal; metadataOnly?: boolean },
  ): Promise<IncomingMessage>;
  close(): void;
}

interface Exchange {
  agent: Agent;
  headers?: Record<string, string>;
  body?: object;
  signal: AbortSignal;
}

/** Answers without the contents of the objects, so that those of Secrets never reach this process. */
const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

export function createApi({ server, tls, token }: Connection): Api {
  const { lookup } = operatorNames;
  const settings = { ...tls, keepAlive: true, minVersion: 'TLSv1.2', lookup } as const;
  const calls = new Agent({ ...settings, maxSockets: bounds.connections });
  const watches = new Agent(settings);

  async function open(method: string, url: URL, exchange: Exchange): Promise<IncomingMessage> {
    const { agent, body, signal } = exchange;
    const bearer = await token();
    const text = body && Buffer.from(JSON.stringify(body));
    const headers = {
      accept: 'application/json',
      // Node sends the body of a DELETE without a length of its own accord, and the server takes it for another request.
      ...(text ? { 'content-type': 'application/json', 'content-length': String(text.length) } : {}),
      ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
      ...exchange.headers,
    };
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    // A watch that is left and then aborted has two errors; one without a listener would end the process.
    request(url, { method, agent, headers, signal }, resolve).on('error', reject).end(text);
    return promise;
  }

  async function ask<T>(
    method: string,
    path: string,
    { query = {}, signal }: CallSettings,
    rest: { body?: object; headers?: Record<string, string> } = {},
  ): Promise<T> {
    const timeout = AbortSignal.timeout(bounds.requestMs);
    const either = signal ? AbortSignal.any([signal, timeout]) : timeout;
    const answer = await open(method, urlOf(server, path, query), { agent: calls, signal: either, ...rest });
    const text = await textOf(answer);
    const status = answer.statusCode ?? 0;
    if (status >= 300) throw failureOf(status, text);
    return JSON.parse(text) as T;
  }

  return {
    server,
    get: (path, settings = {}) => ask('GET', path, settings),

    async list<T>(
      path: string,
      take: (items: T[]) => void,
      { query = {}, signal, metadataOnly = false }: CallSettings & { metadataOnly?: boolean },
    ) {
      const headers: Record<string, string> = metadataOnly ? { accept: METADATA_LIST } : {};
      let next: string | undefined;
      let version = '';
      do {
        const page = { ...query, limit: String(bounds.page), ...(next ? { continue: next } : {}) };
        const list = await ask<List<T>>('GET', path, { query: page, signal }, { headers });
        // An empty list of metadata has null for them.
        take(list.items ?? []);
        version = list.metadata.resourceVersion ?? version;
        next = list.metadata.continue || undefined;
      } while (next);
      return version;
    },

    create: (path, body, settings = {}) => untilAdmitted(() => ask('POST', path, settings, { body })),
    replace: (path, body, settings = {}) => ask('PUT', path, settings, { body }),
    patch: (path, body, kind, settings = {}) =>
      ask('PATCH', path, settings, { body, headers: { 'content-type': `application/${kind}-patch+json` } }),
    remove: async (path, body, settings = {}) => {
      await ask('DELETE', path, settings, body ? { body } : {});
    },

    async watch(path, query, { signal, metadataOnly = false }) {
      const headers: Record<string, string> = metadataOnly ? { accept: METADATA } : {};
      const url = urlOf(server, path, { ...query, watch: '1' });
      const opening = new AbortController();
      const timer = setTimeout(() => opening.abort(new Error('a watch did not begin')), bounds.requestMs);
      const either = AbortSignal.any([signal, opening.signal]);
      const answer = await open('GET', url, { agent: watches, headers, signal: either }).finally(() =>
        clearTimeout(timer),
      );
      answer.socket.setKeepAlive(true, limits.agentTls.keepaliveMs);
      // The server ends a watch before that time, unless it is gone.
      answer.setTimeout(bounds.watchSeconds * 1000 + bounds.requestMs, () => answer.destroy());
      const status = answer.statusCode ?? 0;
      if (status >= 300) throw failureOf(status, await textOf(answer));
      return answer;
    },

    close() {
      calls.destroy();
      watches.destroy();
    },
  };
}

/**
 * Calls `assert` before each change.
 * @param assert Throws when another replica may have taken the work over.
 */
export function fenced(api: Api, assert: () => void): Api {
  const first = <Given extends unknown[], T>(change: (...given: Given) => Promise<T>) => {
    return async (...given: Given): Promise<T> => {
      assert();
      return change(...given);
    };
  };
  return {
    ...api,
    create: first(api.create) as Api['create'],
    replace: first(api.replace) as Api['replace'],
    patch: first(api.patch) as Api['patch'],
    remove: first(api.remove),
  };
}

function urlOf(server: URL, path: string, query: Record<string, string>): URL {
  // Servers behind a proxy have a path of their own.
  const url = new URL(server.href.replace(/\/+$/, '') + path);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url;
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of answer as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > bounds.answerBytes) throw new Error('an answer of the API is too long');
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

/** The body is a Status object; a proxy before the server may send something else. */
function failureOf(status: number, text: string): ApiFailure {
  try {
    const { reason = '', message = '' } = JSON.parse(text) as { reason?: string; message?: string };
    return new ApiFailure(status, reason, message || `status ${status}`);
  } catch {
    return new ApiFailure(status, '', `status ${status}`);
  }
}

/**
 * Repeats a creation that the namespace's ResourceQuota refused with a conflict. Of several creations at once, the API server
 * answers some so (409, reason Conflict) when its own attempts are used up; it has made nothing then.
 */
export async function untilAdmitted<T>(create: () => Promise<T>): Promise<T> {
  const { attempts, pauseMs } = bounds.quotaConflicts;
  for (let attempt = 1; ; attempt++) {
    try {
      return await create();
    } catch (error) {
      if (!isBusy(error) || attempt === attempts) throw error;
      await delay(pauseMs * attempt);
    }
  }
}
