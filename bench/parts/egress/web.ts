/**
 * nginx on every address of the internet of test/egress/support/harness.ts, which sends with less processor time than Node. Over
 * HTTP/2 and HTTP/1.1: `/small`, and a file as `/bytes` and as `/text`, whose types differ.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Opened } from '../../../test/egress/secrets/support/harness.ts';

interface Web extends AsyncDisposable {
  folder: string;
}

const START_MS = 500;

/** @param megabytes Size of the file. */
export async function startWeb(net: Opened, ports: number[], megabytes: number): Promise<Web> {
  const folder = mkdtempSync(join(tmpdir(), 'sandhaven-web-'));
  const { cert, key } = net.roots.sign(['api.test']);
  writeFileSync(join(folder, 'cert.pem'), cert);
  writeFileSync(join(folder, 'key.pem'), key, { mode: 0o600 });
  writeText(join(folder, 'file'), megabytes);
  writeFileSync(join(folder, 'nginx.conf'), configurationOf(folder, ports));
  const args = ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr'];
  const child = spawn('nsenter', [`--net=${net.namespaces.outside}`, 'nginx', ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit');
  await Promise.race([sleep(START_MS), ended]);
  if (child.exitCode !== null) throw new Error('nginx ended');
  return {
    folder,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}

/** Lines of JSON, as an API sends them. */
function writeText(path: string, megabytes: number): void {
  const line = (at: number) => `{"id":${at},"object":"item.delta","text":"some words that a model says"}\n`;
  const lines = Array.from({ length: 20_000 }, (_, at) => line(at)).join('');
  const megabyte = Buffer.from(lines).subarray(0, 1e6);
  const file = openSync(path, 'w');
  for (let at = 0; at < megabytes; at++) writeSync(file, megabyte);
  closeSync(file);
}

function configurationOf(folder: string, ports: number[]): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `daemon off; user root; worker_processes 1; pid ${folder}/pid; error_log stderr;
    events { worker_connections 512; }
    http {
      access_log off;
      keepalive_requests 100000;
      sendfile on;
      http2_chunk_size 16k;
      output_buffers 2 256k;
      ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n')}
      server {
        ${ports.map((port) => `listen 0.0.0.0:${port} ssl http2;`).join('\n')}
        ssl_certificate ${folder}/cert.pem;
        ssl_certificate_key ${folder}/key.pem;
        ssl_protocols TLSv1.3;
        location = /small { default_type application/json; return 200 '{"ok":true}'; }
        location = /bytes { types {} default_type application/octet-stream; alias ${folder}/file; }
        location = /text { types {} default_type application/json; alias ${folder}/file; }
      }
    }`;
}
