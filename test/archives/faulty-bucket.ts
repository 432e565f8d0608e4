/** A real bucket behind a proxy that makes faults, with the flags by which a service finds it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts';
import { credentials, type S3Server, startS3Server } from './s3-server.ts';

export interface FaultyBucket {
  server: S3Server;
  proxy: FaultProxy;
  /** Endpoint and credentials; the place of archives is the test's to choose. */
  flags: string[];
  close(): Promise<void>;
}

export async function openFaultyBucket(name: string): Promise<FaultyBucket> {
  const folder = mkdtempSync(join(tmpdir(), 'sandhaven-bucket-'));
  const credentialsFile = join(folder, 'credentials');
  const { accessKeyId, secretAccessKey } = credentials;
  const text = `[default]\naws_access_key_id = ${accessKeyId}\naws_secret_access_key = ${secretAccessKey}\n`;
  writeFileSync(credentialsFile, text, { mode: 0o600 });
  const server = await startS3Server();
  await server.makeBucket(name);
  const proxy = await startFaultProxy(server.options.endpoint);
  return {
    server,
    proxy,
    flags: ['--s3-endpoint', proxy.endpoint, '--s3-credentials-file', credentialsFile],
    async close() {
      await proxy.close();
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
