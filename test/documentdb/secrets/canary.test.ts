/**
 * The password of the document database, used as intended and in calls that fail, and then a search for it wherever it
 * may not be: answers, the log, the data directory, arguments of programs, and a sandbox that got documents.
 */
import { execFile, spawnSync } from 'node:child_process';
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Answer, bin, must } from '../../support/service.ts';
import { readerConnectionString } from '../server.ts';
import { useService } from '../service.ts';

const run = promisify(execFile);
const environment = { DOCUMENTDB_CONNECTION_STRING: readerConnectionString };
const { username, password: encoded } = new URL(readerConnectionString);
/** As it stands in the connection string, as the driver sends it, and in the header of a careless client. */
const spellings = [
  readerConnectionString,
  encoded,
  decodeURIComponent(encoded),
  Buffer.from(`${username}:${decodeURIComponent(encoded)}`).toString('base64'),
];
const orders = { database_name: 'shop', collection_name: 'orders' };

const documents = useService(() => environment);
const { ask, explore } = documents;
const answers: Answer[] = [];
let sandbox: string;

beforeAll(async () => {
  const keep = async (tool: string, parameters: Record<string, unknown>) => {
    answers.push(await ask(tool, parameters));
  };
  await keep('FindDocuments', orders);
  await explore('shop', ['orders']);
  sandbox = String((await must(documents.service, 'CreateSandbox', { disk_gb: 1 }))['id']);
  await keep('DiscoverDatabases', {});
  await keep('DiscoverCollections', { database_name: 'shop' });
  await keep('DiscoverCollections', { database_name: 'none' });
  await keep('DiscoverCollections', { database_name: 'admin' });
  await keep('GetCollectionSchema', orders);
  await keep('GetCollectionSchema', { ...orders, collection_name: 'none' });
  await keep('FindDocuments', { ...orders, limit: 5 });
  await keep('FindDocuments', { ...orders, filter_dict: '{"$where": "1"}' });
  await keep('FindDocuments', { ...orders, filter_dict: '{"a": {"$regex": "("}}' });
  await keep('CountDocuments', { ...orders, filter_dict: '{' });
  await keep('AggregateDocuments', { ...orders, pipeline: ['{"$out": "copy"}'] });
  await keep('AggregateDocuments', { ...orders, pipeline: ['{"$group": {"_id": {"$divide": [1, 0]}}}'] });
  await keep('FindDocuments', {
    ...orders,
    limit: 100,
    save_to_sandbox: sandbox,
    save_to_path: 'orders.jsonl',
  });
  await must(documents.service, 'RunCommand', { sandbox, command: 'test -s orders.jsonl && sync' });
}, 120_000);

describe('[DDB-AUTH-02] the password of the database', () => {
  it('is long enough to be found by itself', () => {
    expect(encoded.length).toBeGreaterThanOrEqual(16);
  });

  it('is in no answer', () => {
    const isError = ({ status }: Answer) => status >= 400;
    expect(answers.filter(isError).length).toBeGreaterThan(5);
    expect(answers.filter((answer) => !isError(answer)).length).toBeGreaterThan(4);
    for (const { body } of answers) expect(found(JSON.stringify(body))).toEqual([]);
  });

  it('is not in the log', () => {
    expect(documents.service.log()).toContain('DocumentDb.FindDocuments');
    expect(found(documents.service.log())).toEqual([]);
  });

  it('is not in the output of the doctor', async () => {
    const env = { ...process.env, ...environment };
    const { stdout, stderr } = await run(bin, ['doctor', '--json'], { env }).catch((failed) => failed);
    expect(stdout).toMatch(/document/i);
    expect(found(`${stdout}${stderr}`)).toEqual([]);
  });

  it('is not in the data directory, the disk of the sandbox included', () => {
    const { dataDir } = documents.service;
    // Files of the pool and of images are as they were made before any of this.
    const left = ['--exclude-dir=pool', '--exclude-dir=images'];
    const grep = ['--recursive', '--text', '--fixed-strings', '--files-with-matches', ...left];
    const search = () =>
      spawnSync('grep', [...grep, '-f', '-', dataDir], { input: spellings.join('\n'), encoding: 'utf8' });
    const control = join(dataDir, 'control');
    writeFileSync(control, `x${encoded}x`);
    expect(search()).toMatchObject({ status: 0, stdout: `${control}\n` });
    rmSync(control);
  });

  it('is among the arguments of no program', () => {
    const seen = globSync('/proc/[0-9]*/cmdline').filter((file) => found(read(file)).length > 0);
    expect(seen).toEqual([]);
  });

  it('is in no process of the sandbox that got documents', async () => {
    const command = 'cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline orders.jsonl | tr "\\0" "\\n"';
    const { stdout } = await must(documents.service, 'RunCommand', { sandbox, command });
    expect(String(stdout)).toContain('PATH=');
    expect(found(String(stdout))).toEqual([]);
  });
});

/** Which of the spellings; what fails prints no secret. */
function found(text: string): number[] {
  return spellings.flatMap((spelling, index) => (text.includes(spelling) ? [index] : []));
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // It ended meanwhile.
    return '';
  }
}
