/**
 * A dozen of the programs that people install most, in the base image, from a repository of the test's own: each is installed
 * after the other, with what it recommends, and started. `make test-deep PART=programs` has the others.
 */
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DOZEN, dozenArchive } from '../../../setup/debian/dozen-packages.ts';
import { defaultCacheDir } from '../../../src/runtime/images/cache-dir.ts';
import { readImageRecord } from '../../../src/runtime/images/registry/record.ts';
import { must, type Service, startService } from '../../support/service.ts';
import { installAndStart, makeSandbox, programOf } from './program.ts';

const REPOSITORY = `mkdir /srv/debian && tar -xf /tmp/dozen.tar -C /srv/debian && rm /tmp/dozen.tar
rm -f /etc/apt/sources.list /etc/apt/sources.list.d/*
echo 'deb [trusted=yes] file:/srv/debian ./' >/etc/apt/sources.list.d/dozen.list
apt-get update`;

let service: Service;
let sandbox: string;

beforeAll(async () => {
  service = await startService();
  sandbox = await makeSandbox(service, { network: 'none' });
  const image = await readImageRecord(join(defaultCacheDir(), 'base/current'));
  await upload(dozenArchive(image?.digest ?? ''), '/tmp/dozen.tar');
  expect(await must(service, 'RunCommand', { sandbox, command: REPOSITORY })).toMatchObject({ exit_code: 0 });
}, 120_000);

afterAll(() => service?.stop());

describe('a program that people install, in the base image', () => {
  it.each(DOZEN)(
    '%s installs and starts',
    async (name) => {
      await installAndStart(service, sandbox, programOf(name));
    },
    120_000,
  );
});

async function upload(file: string, path: string): Promise<void> {
  const url = `${service.url}/v1/sandboxes/${sandbox}/files?path=${encodeURIComponent(path)}`;
  const headers = { authorization: `Bearer ${service.apiKey}` };
  const body = Readable.toWeb(createReadStream(file)) as ReadableStream;
  const answer = await fetch(url, { method: 'PUT', headers, body, duplex: 'half' } as RequestInit);
  expect(answer.status, await answer.text()).toBeLessThan(300);
}
