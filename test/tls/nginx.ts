/** nginx on loopback with the configuration that docs/reverse-proxy.md gives, but for addresses and files. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MadeCertificate } from '../support/certificates.ts';

export interface Nginx {
  port: number;
  stop(): Promise<void>;
}

interface Behind {
  certificate: MadeCertificate;
  api: number;
  previews: number;
}

export async function startNginx({ certificate, api, previews }: Behind): Promise<Nginx> {
  const port = await freePort();
  const replaced = await documented([
    ['listen 443 ssl', `listen 127.0.0.1:${port} ssl`],
    ['127.0.0.1:7420', `127.0.0.1:${api}`],
    ['127.0.0.1:7421', `127.0.0.1:${previews}`],
    ['/etc/ssl/sandhaven/fullchain.pem', certificate.certFile],
    ['/etc/ssl/sandhaven/privkey.pem', certificate.keyFile],
  ]);
  const folder = await mkdtemp(join(tmpdir(), 'sandhaven-nginx-'));
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join('\n');
  const conf = join(folder, 'nginx.conf');
  await writeFile(
    conf,
    `daemon off; user root; worker_processes 1; pid ${folder}/pid; error_log stderr;
    events { worker_connections 512; }
    http { access_log off; ${temporary}\n${replaced} }`,
  );
  const child = spawn('nginx', ['-p', folder, '-c', conf, '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (text) => {
    said += text;
  });
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    }
    await rm(folder, { recursive: true, force: true });
  };
  for (let tries = 0; !(await listens(port)); tries++) {
    if (tries > 100 || child.exitCode !== null) {
      await stop();
      throw new Error(`nginx does not listen:\n${said}`);
    }
    await sleep(100);
  }
  return { port, stop };
}

/** Fails when the document does not say what is to be replaced. */
async function documented(replacements: [string, string][]): Promise<string> {
  const document = await readFile(new URL('../../docs/reverse-proxy.md', import.meta.url), 'utf8');
  let text = /^```nginx\n([\s\S]*?)^```/m.exec(document)?.[1] ?? '';
  for (const [from, to] of replacements) {
    if (!text.includes(from)) throw new Error(`docs/reverse-proxy.md has no '${from}'`);
    text = text.replaceAll(from, to);
  }
  return text;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
  }).finally(() => socket.destroy()) as Promise<boolean>;
}
