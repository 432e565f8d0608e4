import { describe, expect, it } from 'vitest';
import { parseUpOptions } from '../../src/app/options/up-options.ts';
import { localRegion } from '../../src/model/region.ts';

describe('the options of `sandhaven up`', () => {
  it('[WIRE-UP-04] [WIRE-UP-05] have the documented defaults', () => {
    expect(parseUpOptions([], {})).toEqual({
      listen: { host: '127.0.0.1', port: 7420 },
      sshListen: { host: '127.0.0.1', port: 7422, chosen: false },
      sshPublic: null,
      previewListen: { host: '127.0.0.1', port: 7421, chosen: false },
      previewDomain: 'localhost',
      auditKeptDays: 90,
      previewUrl: null,
      publicUrl: null,
      trustedProxies: [],
      compat: [],
      tls: null,
      regions: [localRegion],
      dataDir: '/var/lib/sandhaven',
      store: null,
      toolsets: 'all',
      warmPool: { min: 4, max: 4 },
      imageKeptMinutes: 1_440,
      sleepAfterSeconds: 0,
      kubernetes: null,
      tracing: null,
      passwordSignIn: false,
      adminsReadInside: false,
      publicPorts: false,
      machineRuntime: 'auto',
      gpuKind: { kind: 'nvidia.com/gpu', names: null },
      defaultNetwork: { mode: 'open', profiles: [], allow: [] },
      mostNetwork: { mode: 'open', profiles: [], allow: [] },
      webhookAllow: [],
      gitAllow: [
        { network: '127.0.0.0', prefix: 8, family: 'ipv4' },
        { network: '::1', prefix: 128, family: 'ipv6' },
      ],
      registryRules: { mirrors: [], allowed: null },
      quota: {},
      traffic: {
        each: { bandwidthMbps: null, connectionsPerSecond: 200, gbPerDay: null },
        uplinkMbps: 'auto',
      },
      diskOvercommit: 100,
      diskStore: { kind: 'auto', sizeGb: null },
      rate: null,
      prove: false,
      provider: null,
      identity: null,
      archives: { folder: null, s3: null, encrypted: false },
    });
    expect(() =>
      parseUpOptions(
        ['--preview-domain', 'x', '--preview-listen', '127.0.0.1:1', '--ssh-listen', '127.0.0.1:2'],
        {},
      ),
    ).not.toThrow();
  });

  it('[WIRE-UP-03] [WIRE-UP-06] come by flag or by environment, the flag first', () => {
    const env = { SANDHAVEN_WARM_POOL: '0', SANDHAVEN_LISTEN: '[::1]:80', SANDHAVEN_DATA_DIR: '/d' };
    expect(parseUpOptions([], env)).toMatchObject({
      warmPool: { min: 0, max: 0 },
      listen: { host: '::1', port: 80 },
      dataDir: '/d',
    });
    expect(parseUpOptions(['--warm-pool', '7'], env)).toMatchObject({ warmPool: { min: 7, max: 7 } });
  });

  it('[WIRE-UP-06] fix the size of the warm pool, or give its bounds', () => {
    const pool = (text: string) => parseUpOptions([`--warm-pool=${text}`], {}).warmPool;
    expect(pool('2..20')).toEqual({ min: 2, max: 20 });
    expect(pool('0..100')).toEqual({ min: 0, max: 100 });
    expect(pool('7')).toEqual({ min: 7, max: 7 });
    for (const text of ['', '101', '0..101', '5..4', '1..', '..3', '1..2..3', '-1..3', '1.5', 'two']) {
      expect(() => pool(text), text).toThrow('--warm-pool must');
    }
  });

  it('allow hosts of Git remotes: names, ports, networks, or none besides public ones', () => {
    const allowed = (text: string) => parseUpOptions(['--git-allow', text], {}).gitAllow;
    expect(allowed('none')).toEqual([]);
    expect(allowed('Git.Internal, git:3000,10.1.0.0/16,fd00::/8,10.0.0.1')).toEqual([
      { host: 'git.internal', port: null },
      { host: 'git', port: 3000 },
      { network: '10.1.0.0', prefix: 16, family: 'ipv4' },
      { network: 'fd00::', prefix: 8, family: 'ipv6' },
      { network: '10.0.0.1', prefix: 32, family: 'ipv4' },
    ]);
  });

  it('give the usual network and the most of it, by flag or by environment', () => {
    const env = { SANDHAVEN_MOST_NETWORK: 'packages,git,GET,HEAD http://a.example.com' };
    expect(parseUpOptions(['--default-network', 'none'], env)).toMatchObject({
      defaultNetwork: { mode: 'none', profiles: [], allow: [] },
      mostNetwork: {
        ...{ mode: 'rules', profiles: ['packages', 'git'], allow: ['GET,HEAD http://a.example.com'] },
      },
    });
    expect(() => parseUpOptions(['--default-network', 'example'], {})).toThrow(
      expect.objectContaining({ fields: expect.objectContaining({ parameter: '--default-network' }) }),
    );
  });

  it('refuse networks other than open on a cluster', () => {
    const cluster = ['--runtime', 'kubernetes', '--agent-image', 'r/a:1', '--base-image', 'r/b:1'];
    expect(() => parseUpOptions([...cluster, '--default-network', 'none'], {})).toThrow(
      '--default-network must be open with --runtime kubernetes.',
    );
    expect(() => parseUpOptions([...cluster, '--most-network', 'git'], {})).toThrow(
      '--most-network must be open with --runtime kubernetes.',
    );
  });

  it('limit the traffic of sandboxes and of users', () => {
    const flags = ['--sandbox-bandwidth-mbps', '100', '--sandbox-traffic-gb', '5', '--uplink-mbps', 'none'];
    const quotas = ['--quota-bandwidth-mbps', '400', '--quota-traffic-gb', 'none'];
    expect(
      parseUpOptions([...flags, ...quotas], { SANDHAVEN_SANDBOX_CONNECTIONS_PER_SECOND: '20' }),
    ).toMatchObject({
      traffic: {
        each: { bandwidthMbps: 100, connectionsPerSecond: 20, gbPerDay: 5 },
        uplinkMbps: null,
      },
      quota: { bandwidth: 400, traffic: null },
    });
    for (const [flag, text] of [
      ['--sandbox-bandwidth-mbps', '0'],
      ['--sandbox-connections-per-second', '201'],
      ['--sandbox-connections-per-second', 'none'],
      ['--uplink-mbps', 'fast'],
    ] as const) {
      expect(() => parseUpOptions([`${flag}=${text}`], {}), flag).toThrow(`${flag} must be`);
    }
  });

  it('name the volume of disks and its size', () => {
    const store = (...argv: string[]) => parseUpOptions(argv, {}).diskStore;
    expect(store('--disk-store', 'xfs')).toEqual({ kind: 'xfs', sizeGb: null });
    expect(store('--disk-store-gb', '16')).toEqual({ kind: 'auto', sizeGb: 16 });
    expect(
      parseUpOptions([], { SANDHAVEN_DISK_STORE: 'xfs', SANDHAVEN_DISK_STORE_GB: '16000' }).diskStore,
    ).toEqual({
      kind: 'xfs',
      sizeGb: 16_000,
    });
    expect(() => store('--disk-store', 'zfs')).toThrow("The disk store 'zfs' is not known.");
    for (const text of ['15', '16001', '20.5', '-1', 'none'])
      expect(() => store(`--disk-store-gb=${text}`), text).toThrow('--disk-store-gb must be');
    const cluster = ['--runtime', 'kubernetes', '--agent-image', 'r/a:1', '--base-image', 'r/b:1'];
    for (const [flag, text] of [
      ['--disk-store', 'xfs'],
      ['--disk-store-gb', '16'],
    ] as const)
      expect(() => store(...cluster, flag, text)).toThrow(`${flag} does nothing with --runtime kubernetes.`);
  });

  it('refuse limits of traffic on a cluster, which would not hold', () => {
    const cluster = ['--runtime', 'kubernetes', '--agent-image', 'r/a:1', '--base-image', 'r/b:1'];
    for (const flag of ['--sandbox-traffic-gb', '--uplink-mbps', '--quota-connections-per-second']) {
      expect(() => parseUpOptions([...cluster, flag, '5'], {}), flag).toThrow(
        `${flag} does nothing with --runtime kubernetes.`,
      );
    }
    expect(() => parseUpOptions([...cluster, '--quota-traffic-gb', 'none'], {})).not.toThrow();
  });

  it('describe a cluster for --runtime kubernetes alone', () => {
    const images = ['--agent-image', 'r.example/agent:1', '--base-image', 'r.example/base:1'];
    expect(parseUpOptions(images, {}).kubernetes).toBeNull();
    const flags = ['--runtime', 'kubernetes', ...images, '--agent-clients', '10.0.0.7,10.1.0.0/16'];
    expect(parseUpOptions(flags, { SANDHAVEN_NAMESPACE: 'sandboxes' }).kubernetes).toEqual({
      kubeconfig: null,
      namespace: 'sandboxes',
      agentImage: 'r.example/agent:1',
      baseImage: 'r.example/base:1',
      storageClass: null,
      runtimeClass: null,
      gpuResource: 'nvidia.com/gpu',
      agentClients: ['10.0.0.7/32', '10.1.0.0/16'],
      clusterNetworks: [],
      nodeLoss: { afterMs: 60_000, restarts: false },
    });
    const loss = ['--node-lost', 'restart', '--node-lost-after-seconds', '10'];
    expect(parseUpOptions([...flags, ...loss], {}).kubernetes?.nodeLoss).toEqual({
      afterMs: 10_000,
      restarts: true,
    });
    const refused = (...argv: string[]) => expect(() => parseUpOptions(['--runtime', ...argv], {}));
    refused('kubernetes').toThrow('--agent-image is missing.');
    refused('kubernetes', ...images, '--storage-class', 'Fast Disks').toThrow('--storage-class must be');
    refused('kubernetes', ...images, '--gpu-resource', 'gpu').toThrow('--gpu-resource must be');
    refused('kubernetes', ...images, '--node-lost', 'move').toThrow('--node-lost must be error or restart');
    refused('kubernetes', ...images, '--node-lost-after-seconds', '9').toThrow('must be at least 10');
    refused('kubernetes', ...images, '--node-lost-after-seconds', '86401').toThrow('from 0 to 86400');
    refused('docker').toThrow("The engine 'docker' is not known.");
  });

  it('set the quota of each user and the rate of each key, or none', () => {
    const argv = ['--quota-sandboxes', '0', '--quota-memory-gb', '64', '--rate', '50'];
    expect(parseUpOptions(argv, { SANDHAVEN_QUOTA_CPU: '8' })).toMatchObject({
      quota: { sandboxes: 0, cpu: 8, memory: 64 },
      rate: { perSecond: 50, burst: 50 },
    });
    expect(parseUpOptions(['--rate', '50/200'], {}).rate).toEqual({ perSecond: 50, burst: 200 });
    expect(parseUpOptions(['--rate', 'none', '--quota-cpu', 'none'], {})).toMatchObject({
      rate: null,
      quota: { cpu: null },
    });
  });

  it('name a database of the store, whose password comes by environment', () => {
    const url = 'postgres://sandhaven@db.example.org/sandhaven?sslmode=verify-full';
    expect(parseUpOptions(['--store', url], { PGPASSWORD: 'secret' }).store).toEqual({
      url,
      password: 'secret',
    });
    expect(parseUpOptions([], { SANDHAVEN_STORE: url }).store).toEqual({ url, password: null });
  });

  it.each([
    ['sandhaven.db', 'must be a URL'],
    ['mysql://db.example.org/sandhaven', 'must be a URL'],
    ['postgres://sandhaven:secret@db.example.org/sandhaven', 'holds a password'],
    ['postgres://db.example.org/sandhaven?password=secret', 'holds a password'],
    ['postgres://sandhaven@db.example.org/', 'names no database'],
  ])('refuse %s as the address of a store', (address, message) => {
    expect(() => parseUpOptions(['--store', address], {})).toThrow(
      expect.objectContaining({
        code: 'invalid_argument',
        message: expect.stringContaining(message),
        fields: expect.objectContaining({ parameter: '--store' }),
      }),
    );
  });

  it('choose the GPUs: a kind, or some devices of it', () => {
    const kind = (text: string) => parseUpOptions(['--gpu-kind', text], {}).gpuKind;
    expect(kind('amd.com/gpu')).toEqual({ kind: 'amd.com/gpu', names: null });
    expect(kind('nvidia.com/gpu=0,GPU-1f,0:1,0')).toEqual({
      kind: 'nvidia.com/gpu',
      names: ['0', 'GPU-1f', '0:1'],
    });
  });

  it('set the public names, proxies and certificates', () => {
    expect(
      parseUpOptions(
        [
          ...['--public-url', 'https://Sandhaven.Example.com/', '--preview-url', 'https://*.p.example.com'],
          ...['--trusted-proxy', '127.0.0.1, 10.0.0.0/8,fd00::/8', '--tls-cert', 'c', '--tls-key', 'k'],
        ],
        {},
      ),
    ).toMatchObject({
      publicUrl: 'https://sandhaven.example.com',
      previewUrl: { protocol: 'https', domain: 'p.example.com', port: 443 },
      previewDomain: 'p.example.com',
      trustedProxies: [
        { network: '127.0.0.1', prefix: 32, family: 'ipv4' },
        { network: '10.0.0.0', prefix: 8, family: 'ipv4' },
        { network: 'fd00::', prefix: 8, family: 'ipv6' },
      ],
      tls: { certFile: 'c', keyFile: 'k' },
    });
    const preview = (url: string) => parseUpOptions(['--preview-url', url], {}).previewUrl;
    expect(preview('http://*.p.example:81')).toEqual({ protocol: 'http', domain: 'p.example', port: 81 });
  });

  it('set the regions, the service’s own first; parts left out are unknown', () => {
    const regions = (text: string) => parseUpOptions(['--region', text], {}).regions;
    expect(regions('id=eu-central, name=Frankfurt am Main,city=Frankfurt,country=DE;id=us')).toEqual([
      { id: 'eu-central', name: 'Frankfurt am Main', location: { city: 'Frankfurt', country: 'DE' } },
      { id: 'us', name: 'us', location: { city: '', country: '' } },
    ]);
    expect(regions(' ; ')).toEqual([localRegion]);
  });

  it.each([
    [['--tls-cert', 'c'], '--tls-key'],
    [['--tls-key', 'k'], '--tls-cert'],
    [['--public-url', 'sandhaven.example.com'], '--public-url'],
    [['--public-url', 'https://h/path'], '--public-url'],
    [['--public-url', 'https://u:p@h'], '--public-url'],
    [['--public-url', 'https://*.h'], '--public-url'],
    [['--public-url', 'ftp://h'], '--public-url'],
    [['--preview-url', 'https://p.example.com'], '--preview-url'],
    [['--preview-url', 'https://*.p/x'], '--preview-url'],
    [['--preview-url', 'https://*.p:0'], '--preview-url'],
    [['--preview-url', 'https://*.p', '--preview-domain', 'q'], '--preview-url'],
    [['--trusted-proxy', 'proxy.internal'], '--trusted-proxy'],
    [['--trusted-proxy', '10.0.0.0/33'], '--trusted-proxy'],
    [['--trusted-proxy', ''], '--trusted-proxy'],
    [['--region', 'name=x'], '--region'],
    [['--region', 'id=A'], '--region'],
    [['--region', 'id=a,id=b'], '--region'],
    [['--region', 'id=a,planet=earth'], '--region'],
    [['--region', 'id=a,name='], '--region'],
    [['--region', 'id=a;id=a'], '--region'],
    [['--listen', '7420'], '--listen'],
    [['--listen', 'host:99999'], '--listen'],
    [['--ssh-listen', '7422'], '--ssh-listen'],
    [['--preview-listen', '7421'], '--preview-listen'],
    [['--preview-domain', 'a..b'], '--preview-domain'],
    [['--preview-domain=-a'], '--preview-domain'],
    [['--preview-domain', 'localhost:80'], '--preview-domain'],
    [['--warm-pool', '-1'], 'flags'],
    [['--warm-pool', '101'], '--warm-pool'],
    [['--warm-pool', 'many'], '--warm-pool'],
    [['--image-kept-minutes', '1.5'], '--image-kept-minutes'],
    [['--runtime', 'docker'], '--runtime'],
    [['--git-allow', '10.0.0.0/33'], '--git-allow'],
    [['--git-allow', 'git host'], '--git-allow'],
    [['--git-allow', 'https://h/'], '--git-allow'],
    [['--git-allow', 'h:99999'], '--git-allow'],
    [['--disk-overcommit', '0'], '--disk-overcommit'],
    [['--quota-cpu', '-1'], 'flags'],
    [['--quota-disk-gb', '1.5'], '--quota-disk-gb'],
    [['--quota-snapshots', ''], '--quota-snapshots'],
    [['--rate', '0'], '--rate'],
    [['--rate', '50/'], '--rate'],
    [['--rate', '50/0'], '--rate'],
    [['--rate', '1/2/3'], '--rate'],
    [['--gpu-kind', 'gpu'], '--gpu-kind'],
    [['--gpu-kind', 'a.b/gpu='], '--gpu-kind'],
    [['--gpu-kind', 'a.b/gpu=0=1'], '--gpu-kind'],
    [['--gpu-kind', 'a.b/../gpu'], '--gpu-kind'],
    [['--nonsense'], 'flags'],
  ])('are refused before anything starts: %j', (argv, parameter) => {
    expect(() => parseUpOptions(argv, {})).toThrow(
      expect.objectContaining({ code: 'invalid_argument', fields: expect.objectContaining({ parameter }) }),
    );
  });
});
