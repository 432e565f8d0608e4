/** A database and an object store beside a cluster serve its Pods and the host, and come back after a kill. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { createS3Client } from '../../../src/runtime/archives/s3/client.ts';
import { createExchange } from '../../../src/runtime/archives/s3/exchange.ts';
import { type Cluster, startCluster } from '../cluster.ts';
import { pushBusybox } from '../images.ts';
import { inPod, runPod } from '../pods.ts';
import { postgresFor, s3For } from './companions.ts';

let cluster: Cluster;

beforeAll(async () => {
  cluster = await startCluster();
  const image = pushBusybox(cluster.registry);
  await runPod(cluster, 'client', { image, command: ['sleep', '100000'] });
});
afterAll(() => cluster?.stop());
afterEach(({ task }) => {
  if (task.result?.state === 'fail') console.info(cluster.logs());
});

it('give a cluster a PostgreSQL', async () => {
  const postgres = await postgresFor(cluster);
  const url = await postgres.database();
  await postgres.query(url, 'CREATE TABLE kept AS SELECT 42 AS value');
  // A client’s request for TLS, which the server answers with one letter.
  const ask = `printf '\\0\\0\\0\\10\\4\\322\\26\\57' | nc -w 2 ${postgres.host} ${postgres.port} | head -c 1`;
  expect(inPod(cluster, 'client', ask)).toBe('N');
  await postgres.kill();
  expect(inPod(cluster, 'client', `${ask} || true`)).toBe('');
  await expect(postgres.query(url, 'SELECT 1')).rejects.toThrow();
  await postgres.start();
  expect(await postgres.query(url, 'SELECT value FROM kept')).toEqual([{ value: 42 }]);
  expect(inPod(cluster, 'client', ask)).toBe('N');
});

it('give a cluster an S3 server', async () => {
  const s3 = await s3For(cluster);
  await s3.makeBucket('archives');
  const ask = `wget -T 2 -O - ${s3.options.endpoint}/archives 2>&1 || true`;
  expect(inPod(cluster, 'client', ask)).toMatch(/403 Forbidden/);
  await s3.kill();
  expect(inPod(cluster, 'client', ask)).not.toMatch(/403/);
  await s3.start();
  expect(inPod(cluster, 'client', ask)).toMatch(/403 Forbidden/);
  const exchange = createExchange(s3.options, s3.options.credentials);
  const { xml } = await createS3Client(exchange).list('archives', {}, undefined);
  expect(xml).toContain('<Name>archives</Name>');
  exchange.close();
});
