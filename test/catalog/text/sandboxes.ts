/** Results of the tools for sandboxes. */
import type { Sample, Samples } from './sample.ts';

const sandbox = {
  id: 'sb_0123456789abcdef',
  name: 'demo',
  state: 'started',
  status: 'started',
  language: 'python',
  snapshot: null,
  image: 'base',
  resources: { cpu: 3, memory: 5, disk: 21, gpu: 1 },
  labels: { team: 'core', stage: 'test' },
  auto_stop_minutes: 17,
  auto_archive_minutes: 10_080,
  auto_delete_minutes: -1,
  ephemeral: false,
  region_id: 'local',
  created_at: '2026-01-02T03:04:05.000Z',
  updated_at: '2026-01-02T03:04:06.000Z',
  last_activity_at: '2026-01-02T03:04:06.000Z',
  started_at: '2026-01-02T03:04:06.000Z',
  stopped_at: null,
  archived_at: null,
};

const shown: Sample['says'] = {
  id: 'sb_0123456789abcdef',
  name: "'demo'",
  state: 'is started',
  resources: '3 vCPU, 5 GB memory, 21 GB disk, 1 GPU',
  labels: 'team=core, stage=test',
};

const made: Sample['says'] = {
  ...shown,
  ...{ cpu: '3 vCPU', memory: '5 GB memory', disk: '21 GB disk' },
  image: 'From image base',
  auto_stop_minutes: 'auto_stop_minutes 17',
  auto_archive_minutes: 'auto_archive_minutes 10080',
  auto_delete_minutes: 'auto_delete_minutes -1',
};

const ended = { ...sandbox, state: 'stopped', status: 'stopped' };
const deleted: Sample = { result: { ...ended, deleted: true }, says: { deleted: /was deleted/ } };
const failed: Sample = {
  result: {
    ...sandbox,
    ...{ state: 'error', status: 'error', state_reason: 'The disk is full.' },
    ...{ snapshot: 'mine', ephemeral: true, user: 'ann' },
  },
  says: {
    ...{ state: 'is error', state_reason: 'The disk is full.' },
    ...{ snapshot: 'From snapshot mine', ephemeral: ', ephemeral, ', user: ', Linux user ann.' },
  },
};

export const sandboxSamples: Samples = {
  'Sandbox.CreateSandbox': [{ result: sandbox, says: made }, failed],
  'Sandbox.StartSandbox': [{ result: sandbox, says: made }, failed],
  'Sandbox.StopSandbox': [{ result: ended, says: { ...made, state: 'is stopped' } }, deleted, failed],
  'Sandbox.ArchiveSandbox': [
    { result: { ...sandbox, state: 'archived' }, says: { ...made, state: 'is archived' } },
  ],
  'Sandbox.DeleteSandbox': [
    {
      result: { id: sandbox.id, name: 'demo', deleted: true },
      says: { id: shown['id'] ?? '', name: "'demo'", deleted: 'was deleted' },
    },
  ],
  'Sandbox.ConfigureSandboxAuto': [
    {
      result: sandbox,
      says: made,
    },
    deleted,
  ],
  'Sandbox.ResizeSandbox': [{ result: sandbox, says: made }],
  'Sandbox.SetSandboxLabels': [{ result: sandbox, says: made }],
  'Sandbox.ListSandboxes': [
    {
      result: { sandboxes: [sandbox], total_count: 41, page: 2, page_size: 20, total_pages: 3 },
      says: {
        ...shown,
        sandboxes: "- Sandbox 'demo' (sb_0123456789abcdef) is started",
        created_at: '2026-01-02T03:04:05.000Z',
        total_count: '41 sandboxes',
        page: 'page 2 of 3; next: page 3.',
        total_pages: 'of 3',
      },
    },
    {
      result: { sandboxes: [sandbox], total_count: 1, page: 1, page_size: 20, total_pages: 1 },
      says: { page: /^1 sandbox, page 1 of 1\.\n/ },
    },
    {
      result: { sandboxes: [], total_count: 0, page: 1, page_size: 20, total_pages: 0 },
      says: { total_count: /^0 sandboxes\.$/ },
    },
    {
      result: { sandboxes: [], total_count: 21, page: 9, page_size: 20, total_pages: 2 },
      says: { page: /^21 sandboxes; page 9 is past the last, 2\.$/ },
    },
  ],
};
