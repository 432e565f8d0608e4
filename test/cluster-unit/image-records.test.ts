/** Records of images, and Secrets of registries, that one replica removes and another has in memory. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { KubernetesSettings } from '../../src/runtime/kubernetes/client/settings.ts';
import { createPullSecrets } from '../../src/runtime/kubernetes/images/pull-secrets.ts';
import { createRecords, type PlacedRecord } from '../../src/runtime/kubernetes/images/records.ts';
import { type MemoryApi, memoryApi } from './memory-api.ts';

const settings = { namespace: 'default', instanceId: 'abc123' } as KubernetesSettings;
const digest = 'd'.repeat(64);
const record = (name: string): PlacedRecord => ({
  ...{ digest, reference: name, repository: 'registry.example/app', names: [name] },
  ...{ env: {}, entrypoint: [], cmd: [], workingDir: '', user: '', sizeBytes: 1, madeAt: 1 },
});

let api: MemoryApi;

beforeEach(() => {
  api = memoryApi();
});

describe('a record that another replica', () => {
  it('has removed is none once its image is about to be used, and is written anew', async () => {
    const [one, two] = [createRecords(api, settings), createRecords(api, settings)];
    await one.put(record('app:1'));
    await two.put(record('app:1'));
    await one.remove(digest);
    expect(await two.confirm(digest)).toBeNull();
    expect(two.named('app:1')).toBeNull();
    await two.put(record('app:1'));
    expect(await one.confirm(digest)).toMatchObject({ names: ['app:1'] });
  });

  it('has given another name keeps both', async () => {
    const [one, two] = [createRecords(api, settings), createRecords(api, settings)];
    await one.put(record('app:1'));
    await two.put(record('app:2'));
    expect(await one.put(record('app:3'))).toMatchObject({ names: ['app:1', 'app:2', 'app:3'] });
  });

  it('changes between the look and the write is read again', async () => {
    const [one, two] = [createRecords(api, settings), createRecords(api, settings)];
    await one.put(record('app:1'));
    const { replace } = api;
    api.replace = async (...given) => {
      api.replace = replace;
      await two.put(record('app:2'));
      return replace(...given);
    };
    expect(await one.put(record('app:3'))).toMatchObject({ names: ['app:1', 'app:2', 'app:3'] });
  });
});

it('the credentials of a registry that another replica has removed are written anew', async () => {
  const credentials = async () => ({ username: 'ada', password: 'canary-51f0' });
  const secrets = createPullSecrets(api, settings, credentials as never);
  const name = await secrets.ensure('registry.example');
  api.objects.clear();
  expect(await secrets.ensure('registry.example')).toBe(name);
  expect([...api.objects.keys()]).toEqual([`/api/v1/namespaces/default/secrets/${name}`]);
  api.asked.length = 0;
  await secrets.ensure('registry.example');
  expect(api.asked).toEqual([`POST /api/v1/namespaces/default/secrets/${name}`]);
});
