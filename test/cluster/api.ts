/** A small client of the Kubernetes API: requests of JSON, waits, and watches. */
import { readFileSync } from 'node:fs';
import { Agent, type RequestOptions, request } from 'node:https';
import { createInterface } from 'node:readline';
import { json as readJson } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';

/** Fields of any object that tests look at are optional, as they are in the API. */
// biome-ignore lint/suspicious/noExplicitAny: the API's objects have hundreds of types, and tests read few fields
export type KubeObject = any;

export interface Api {
  get(path: string): Promise<KubeObject>;
  create(path: string, body: KubeObject): Promise<KubeObject>;
  /** A strategic merge patch. */
  patch(path: string, body: KubeObject): Promise<KubeObject>;
  delete(path: string): Promise<KubeObject>;
  /** Asks again until the object is as wanted. Rejects with the last answer at the timeout. */
  until(path: string, wanted: (object: KubeObject) => boolean, timeoutMs?: number): Promise<KubeObject>;
  /** Calls back at every change below a path of a list, and when the watch has begun; begins again when it ends. */
  watch(path: string, changed: () => void, signal: AbortSignal): void;
  close(): void;
}

export class ApiError extends Error {
  readonly status: number;

  constructor(status: number, what: string, answer: KubeObject) {
    super(`${what}: ${status} ${answer.message ?? ''}`);
    this.status = status;
  }
}

const POLL_MS = 50;

export function connectApi(kubeconfigFile: string): Api {
  const config = JSON.parse(readFileSync(kubeconfigFile, 'utf8'));
  const { server, 'certificate-authority-data': ca } = config.clusters[0].cluster;
  const { 'client-certificate-data': cert, 'client-key-data': key } = config.users[0].user;
  const [caPem, certPem, keyPem] = [ca, cert, key].map((data: string) => Buffer.from(data, 'base64'));
  const agent = new Agent({ keepAlive: true, ca: caPem, cert: certPem, key: keyPem });

  const open = (method: string, path: string, options: RequestOptions = {}, body?: KubeObject) =>
    new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
      const sent = request(new URL(path, server), { method, agent, ...options }, resolve);
      sent.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
    });
  const ask = async (method: string, path: string, body?: KubeObject, type = 'application/json') => {
    const answer = await open(method, path, { headers: { 'content-type': type } }, body);
    const object = (await readJson(answer)) as KubeObject;
    const status = answer.statusCode ?? 0;
    if (status >= 300) throw new ApiError(status, `${method} ${path}`, object);
    return object;
  };
  return {
    get: (path) => ask('GET', path),
    create: (path, body) => ask('POST', path, body),
    patch: (path, body) => ask('PATCH', path, body, 'application/strategic-merge-patch+json'),
    delete: (path) => ask('DELETE', path),
    async until(path, wanted, timeoutMs = 30_000) {
      const deadline = Date.now() + timeoutMs;
      for (;;) {
        const object = await ask('GET', path).catch((error: Error) => ({ error: String(error) }));
        if (wanted(object)) return object;
        if (Date.now() > deadline) throw new Error(`${path} is ${JSON.stringify(object.status ?? object)}`);
        await delay(POLL_MS);
      }
    },
    watch(path, changed, signal) {
      void (async () => {
        while (!signal.aborted) {
          try {
            const answer = await open('GET', `${path}?watch=1`, { signal });
            if (answer.statusCode !== 200) throw new Error(`no watch: ${answer.statusCode}`);
            changed();
            for await (const _event of createInterface({ input: answer })) changed();
          } catch {
            await delay(POLL_MS);
          }
        }
      })();
    },
    close: () => agent.destroy(),
  };
}
