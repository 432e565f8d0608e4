/** The project's own bounds of lifecycle, snapshot and access tools. */
import { addition, optional } from '../notation.ts';
import { environment, imageReference, labels, minutes, position, reference, user } from './common.ts';

/** A sandbox that a snapshot makes has the bounds of any other. */
const resources = {
  default: {},
  keys: {
    cpu: { min: 1, max: 16 },
    memory: { min: 1, max: 64 },
    disk: { min: 1, max: 200 },
    gpu: { min: 0, max: 8 },
  },
  takes: [{}],
  refuses: [{ ram: 1 }],
};

/** 1 to 256 words, 32 KiB in all with one byte after each. */
const entrypoint = {
  minItems: 1,
  maxItems: 256,
  items: { minChars: 1 },
  takes: [['x'.repeat(32_767)], ['x'.repeat(16_383), 'x'.repeat(16_383)]],
  refuses: [['x'.repeat(32_768)], ['x'.repeat(16_383), 'x'.repeat(16_384)], ['a\0b']],
};

const networkRule = 'x'.repeat(301);

/** At most 100 rules of 300 characters each, and 20 names of profiles. */
const network = optional.either(
  [
    optional.oneOf(['open', 'none']),
    optional.jsonWith({ keys: { allow: optional.strings, profiles: optional.strings } }),
  ],
  {
    takes: [
      ...['open', 'none', {}, { allow: [], profiles: [] }],
      {
        allow: ['https://a.example.com', `http://a.example.com/${'x'.repeat(279)}`],
        profiles: ['git', 'llm'],
      },
      { allow: Array<string>(100).fill('example.com'), profiles: Array<string>(20).fill('packages') },
    ],
    refuses: [
      ...['', 'Open', 'rules', 1, true, [], { deny: [] }, { allow: 'example.com' }, { allow: [1] }],
      ...[{ allow: [networkRule] }, { profiles: [networkRule] }, { profiles: 'git' }],
      { allow: Array<string>(101).fill('example.com') },
      { profiles: Array<string>(21).fill('packages') },
    ],
  },
);

export const sandboxAdditions = [
  addition('Sandbox.CreateSandbox', {
    snapshot: imageReference,
    image: imageReference,
    env_vars: environment,
    user,
    auto_stop_minutes: minutes,
    labels: { default: {}, ...labels },
    network,
    secrets: optional.stringsWith({ maxItems: 10, items: { minChars: 1, maxChars: 63 } }),
  }),
  addition('Sandbox.GetSandbox', { sandbox: reference }),
  addition('Sandbox.ListSandboxes', { labels, page: position }),
  addition('Sandbox.StartSandbox', { sandbox: reference }),
  addition('Sandbox.StopSandbox', { sandbox: reference }),
  addition('Sandbox.ArchiveSandbox', { sandbox: reference }),
  addition('Sandbox.DeleteSandbox', { sandbox: reference }),
  addition('Sandbox.ConfigureSandboxAuto', {
    sandbox: reference,
    auto_stop_minutes: minutes,
    auto_delete_minutes: minutes,
  }),
  addition('Sandbox.ResizeSandbox', { sandbox: reference }),
  addition('Sandbox.SetSandboxLabels', { sandbox: reference, labels }),

  addition('Sandbox.CreateSnapshot', {
    // As of a sandbox, with the prefix of the snapshots' own IDs.
    name: {
      minChars: 1,
      maxChars: 63,
      pattern: '^[A-Za-z0-9 ._-]*$',
      takes: ['Python 3.13', 'a.b_c-d'],
      refuses: ['snap_', 'snap_x', 'a/b', 'ä'],
    },
    image: imageReference,
    entrypoint,
    user,
    resources,
    region_id: { minChars: 1, maxChars: 63 },
  }),
  addition('Sandbox.GetSnapshot', { snapshot: reference }),
  addition('Sandbox.ListSnapshots', { page: position }),

  addition('Sandbox.CreateSshAccess', { sandbox: reference, expires_in_minutes: minutes }),
  addition('Sandbox.ListPorts', { sandbox: reference }),
  addition('Sandbox.GetPortPreviewUrl', {
    sandbox: reference,
    expires_in_seconds: { max: 315_360_000 },
  }),
];
