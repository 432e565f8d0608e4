/**
 * Finds the API server and the credentials for it: a kubeconfig, or those that a Pod has. Every error names the file and
 * the field, never a value.
 */
import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';

export interface Connection {
  server: URL;
  /** PEM. */
  tls: { ca?: string; cert?: string; key?: string; servername?: string };
  /** Returns the present token; null where a certificate is the credential. */
  token(): Promise<string | null>;
  /** Namespace that the credentials are meant for; null when they name none. */
  namespace: string | null;
  /** Source, for people. */
  from: string;
  /** true: this process is a Pod of the cluster, in that namespace. */
  isPod: boolean;
}

const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * Uses the given file; else the Pod's own account; else KUBECONFIG or ~/.kube/config. Rejects with
 * `failed_precondition`.
 */
export async function findConnection(
  file: string | null,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Connection> {
  if (file !== null) return readKubeconfig(file);
  if (env['KUBERNETES_SERVICE_HOST'] && existsSync(join(ACCOUNT, 'token'))) return inCluster(env);
  const usual = env['KUBECONFIG']?.split(':')[0] || join(homedir(), '.kube/config');
  if (existsSync(usual)) return readKubeconfig(usual);
  throw refused('No access to a Kubernetes was found.', 'Give a kubeconfig with --kubeconfig FILE.');
}

async function inCluster(env: NodeJS.ProcessEnv): Promise<Connection> {
  const host = env['KUBERNETES_SERVICE_HOST'] ?? '';
  const port = env['KUBERNETES_SERVICE_PORT'] ?? '443';
  return {
    server: new URL(`https://${host.includes(':') ? `[${host}]` : host}:${port}`),
    tls: { ca: await readSmall(join(ACCOUNT, 'ca.crt')) },
    token: tokenFile(join(ACCOUNT, 'token')),
    namespace: (await readSmall(join(ACCOUNT, 'namespace'))).trim() || null,
    isPod: true,
    from: "the Pod's service account",
  };
}

const text = z.string().optional();
const account = z.object({
  'client-certificate': text,
  'client-certificate-data': text,
  'client-key': text,
  'client-key-data': text,
  token: text,
  tokenFile: text,
  exec: z.unknown().optional(),
  'auth-provider': z.unknown().optional(),
  username: text,
});
const kubeconfig = z.object({
  'current-context': text,
  contexts: z.array(
    z.object({ name: z.string(), context: z.object({ cluster: z.string(), user: text, namespace: text }) }),
  ),
  clusters: z.array(
    z.object({
      name: z.string(),
      cluster: z.object({
        server: z.string(),
        'certificate-authority': text,
        'certificate-authority-data': text,
        'tls-server-name': text,
        'insecure-skip-tls-verify': z.boolean().optional(),
      }),
    }),
  ),
  users: z.array(z.object({ name: z.string(), user: account })).default([]),
});

async function readKubeconfig(file: string): Promise<Connection> {
  const content = await readSmall(file);
  // Loaded here alone: no other part of this runtime needs it.
  const { parse } = await import('yaml');
  const parsed = kubeconfig.safeParse(silently(() => parse(content)));
  if (!parsed.success) throw unusable(file, 'it is no kubeconfig');
  const { contexts, clusters, users } = parsed.data;
  const context = contexts.find(({ name }) => name === parsed.data['current-context'])?.context;
  if (!context) throw unusable(file, 'its current context is missing');
  const cluster = clusters.find(({ name }) => name === context.cluster)?.cluster;
  if (!cluster) throw unusable(file, `it has no cluster ${context.cluster}`);
  if (cluster['insecure-skip-tls-verify'])
    throw unusable(file, 'it asks for a connection whose server is not verified');
  const user: Partial<z.infer<typeof account>> = users.find(({ name }) => name === context.user)?.user ?? {};
  if (user.exec || user['auth-provider'] || user.username)
    throw unusable(file, 'its user logs in by a program or a password; a token or a certificate is needed');
  const from = async (data: string | undefined, path: string | undefined) => {
    if (data !== undefined) return Buffer.from(data, 'base64').toString();
    return path === undefined ? undefined : readSmall(resolve(dirname(file), path));
  };
  const ca = await from(cluster['certificate-authority-data'], cluster['certificate-authority']);
  const cert = await from(user['client-certificate-data'], user['client-certificate']);
  const key = await from(user['client-key-data'], user['client-key']);
  const { token = null, tokenFile: path } = user;
  return {
    server: serverOf(file, cluster.server),
    tls: {
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
      ...(cluster['tls-server-name'] === undefined ? {} : { servername: cluster['tls-server-name'] }),
    },
    token: path === undefined ? async () => token : tokenFile(resolve(dirname(file), path)),
    namespace: context.namespace ?? null,
    isPod: false,
    from: file,
  };
}

function serverOf(file: string, text: string): URL {
  const url = silently(() => new URL(text)) as URL | null;
  if (url?.protocol !== 'https:') throw unusable(file, 'its server is no https URL');
  return url;
}

/** The kubelet replaces the file long before its token expires. */
function tokenFile(path: string): () => Promise<string> {
  let kept: { token: string; at: number } | null = null;
  return async () => {
    if (kept && performance.now() - kept.at < limits.kubernetes.tokenMs) return kept.token;
    kept = { token: (await readSmall(path)).trim(), at: performance.now() };
    return kept.token;
  };
}

async function readSmall(path: string): Promise<string> {
  try {
    if ((await stat(path)).size > limits.kubernetes.fileBytes) throw unusable(path, 'it is too long');
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof SandhavenError) throw error;
    throw unusable(path, `it cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`);
  }
}

function silently(work: () => unknown): unknown {
  try {
    return work();
  } catch {
    return null;
  }
}

const unusable = (file: string, why: string) =>
  refused(`${file} cannot be used: ${why}.`, 'Give another kubeconfig with --kubeconfig FILE.');

function refused(detail: string, hint: string): SandhavenError {
  return new SandhavenError('failed_precondition', detail, { hint });
}
