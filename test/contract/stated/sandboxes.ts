/** Of docs/contract.md, "Sandboxes". */
import { optional, required, tool } from '../notation.ts';

/** An env key is [A-Za-z_][A-Za-z0-9_]*. */
export const environmentKeys = {
  takes: [{ A: 'v' }, { _: 'v' }, { a1_B: 'v' }],
  refuses: [{ '': 'v' }, { '1A': 'v' }, { 'A-B': 'v' }, { 'A B': 'v' }, { 'A=B': 'v' }, { Ä: 'v' }],
};

export const sandboxes = [
  tool(
    'Sandbox.CreateSandbox',
    {
      // 1–63 of letters, digits, space . _ -; not beginning "sb_".
      name: optional.stringWith({
        minChars: 1,
        maxChars: 63,
        pattern: '^[A-Za-z0-9 ._-]*$',
        takes: ['Demo 1', 'a.b_c-d', 'SB_1'],
        refuses: ['sb_', 'sb_demo', 'a/b', 'ä', 'a:b'],
      }),
      language: optional.oneOf(['python', 'typescript', 'javascript'], { default: 'python' }),
      snapshot: optional.string,
      image: optional.string,
      env_vars: optional.jsonWith(environmentKeys),
      auto_stop_minutes: optional.integer({ min: 0, default: 15 }),
      cpu: optional.integer({ min: 1, max: 16, default: 2 }),
      memory_gb: optional.integer({ min: 1, max: 64, default: 4 }),
      disk_gb: optional.integer({ min: 1, max: 200, default: 20 }),
      gpu: optional.integer({ min: 0, max: 8, default: 0 }),
      labels: optional.json,
      ephemeral: optional.boolean({ default: false }),
    },
    { exclusive: ['snapshot', 'image'] },
  ),
  tool('Sandbox.GetSandbox', {
    sandbox: required.string,
    include_raw_env_vars: optional.boolean({ default: false }),
  }),
  tool('Sandbox.ListSandboxes', {
    state: optional.oneOf(['started', 'stopped', 'archived', 'error']),
    labels: optional.json,
    page: optional.integer({ min: 1, default: 1 }),
    page_size: optional.integer({ min: 1, max: 100, default: 20 }),
  }),
  tool('Sandbox.StartSandbox', { sandbox: required.string }),
  tool('Sandbox.StopSandbox', { sandbox: required.string }),
  tool('Sandbox.ArchiveSandbox', { sandbox: required.string }),
  tool('Sandbox.DeleteSandbox', { sandbox: required.string }),
  tool(
    'Sandbox.ConfigureSandboxAuto',
    {
      sandbox: required.string,
      auto_stop_minutes: optional.integer({ min: 0 }),
      // 0 means the maximum interval, 30 days.
      auto_archive_minutes: optional.integer({ min: 0, max: 43_200 }),
      auto_delete_minutes: optional.integer({ min: -1 }),
    },
    { atLeastOneOf: ['auto_stop_minutes', 'auto_archive_minutes', 'auto_delete_minutes'] },
  ),
  tool(
    'Sandbox.ResizeSandbox',
    {
      sandbox: required.string,
      cpu: optional.integer({ min: 1, max: 16 }),
      memory_gb: optional.integer({ min: 1, max: 64 }),
      disk_gb: optional.integer({ min: 1, max: 200 }),
    },
    { atLeastOneOf: ['cpu', 'memory_gb', 'disk_gb'] },
  ),
  tool('Sandbox.SetSandboxLabels', { sandbox: required.string, labels: required.json }),
];
