/** The addresses that callers are given: public ones where there are some, and a word where there are none. */
import { describe, expect, it } from 'vitest';
import { missingPublicNames, sshAddress } from '../../src/app/options/announce.ts';
import { parseUpOptions } from '../../src/app/options/up-options.ts';
import { parsePreviewUrl } from '../../src/model/network/service-names.ts';
import { must, startService } from '../support/service.ts';

const here = { host: '127.0.0.1', port: 7422 };
const everywhere = { host: '0.0.0.0', port: 7422 };
const publicUrl = 'https://sandhaven.example.com';

describe('SSH is handed out', () => {
  it.each([
    [
      'where the operator says',
      everywhere,
      { host: 'ssh.example.com', port: 22 },
      publicUrl,
      'ssh.example.com:22',
    ],
    [
      'at the API’s public name when it listens beyond this machine',
      everywhere,
      null,
      publicUrl,
      'sandhaven.example.com:7422',
    ],
    ['where it listens when that is on this machine alone', here, null, publicUrl, '127.0.0.1:7422'],
    ['at an address of this machine without public names', everywhere, null, null, '127.0.0.1:7422'],
    ['at the address that it was given', { host: '192.0.2.7', port: 22 }, null, null, '192.0.2.7:22'],
  ])('%s', (_, listening, sshPublic, url, expected) => {
    const { host, port } = sshAddress({ listening, sshPublic, publicUrl: url });
    expect(`${host}:${port}`).toBe(expected);
  });
});

describe('doctor and the log warn of', () => {
  const local = {
    publicUrl,
    previewUrl: null,
    previewDomain: 'localhost',
    previewListen: here,
    sshListen: here,
    sshPublic: null,
  };

  it('previews and SSH that only this machine reaches while the API is public', () => {
    expect(missingPublicNames(local)).toEqual({
      found: `the API is public at ${publicUrl}, but only this machine reaches links of previews and SSH`,
      advice:
        'Give --preview-url https://*.previews.example.com, and --ssh-listen 0.0.0.0:7422 or --ssh-public HOST:PORT; see docs/reverse-proxy.md.',
    });
  });

  it('nothing where each has its name, or where nothing is public', () => {
    const previewUrl = parsePreviewUrl('--preview-url', 'https://*.previews.example.com');
    expect(
      missingPublicNames({ ...local, previewUrl, sshPublic: { host: 'a.example', port: 22 } }),
    ).toBeNull();
    expect(missingPublicNames({ ...local, publicUrl: null })).toBeNull();
    const direct = { ...local, previewDomain: 'previews.example.com', previewListen: everywhere };
    expect(missingPublicNames({ ...direct, sshListen: everywhere })).toBeNull();
  });
});

it('--ssh-public is an address that clients can connect to', () => {
  expect(parseUpOptions(['--ssh-public', 'ssh.example.com:22'], {}).sshPublic).toEqual({
    host: 'ssh.example.com',
    port: 22,
  });
  expect(parseUpOptions([], {}).sshPublic).toBeNull();
  for (const wrong of ['ssh.example.com', '0.0.0.0:22', 'ssh.example.com:0', '[::]:22'])
    expect(() => parseUpOptions(['--ssh-public', wrong], {})).toThrow('--ssh-public');
});

it('CreateSshAccess and GetPortPreviewUrl answer with them', async () => {
  const service = await startService({
    flags: [
      ...['--public-url', publicUrl, '--ssh-public', 'ssh.example.com:2222'],
      ...['--preview-url', 'https://*.previews.example.com'],
    ],
  });
  try {
    await must(service, 'CreateSandbox', { name: 'one', disk_gb: 1 });
    const access = await must(service, 'CreateSshAccess', { sandbox: 'one' });
    expect(access).toMatchObject({ host: 'ssh.example.com', port: 2222 });
    expect(JSON.stringify(access)).not.toContain('127.0.0.1');
    const { url } = await must(service, 'GetPortPreviewUrl', { sandbox: 'one', port: 8000 });
    expect(url).toMatch(/^https:\/\/[^/]+\.previews\.example\.com/);
    expect(service.log()).not.toContain('only this machine reaches');
  } finally {
    await service.stop();
  }
}, 120_000);
