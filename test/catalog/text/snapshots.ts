/** Results of the tools for snapshots. */
import type { Sample, Samples } from './sample.ts';

const snapshot = {
  id: 'snap_0123456789abcdef',
  name: 'mine',
  state: 'active',
  image: 'debian:13',
  entrypoint: ['server', '--port', '80 81'],
  resources: { cpu: 3, memory: 5, disk: 21, gpu: 1 },
  region_id: 'local',
  size_bytes: 123_456,
  created_at: '2026-01-02T03:04:05.000Z',
  updated_at: '2026-01-02T03:04:06.000Z',
};

const shown: Sample['says'] = {
  id: 'snap_0123456789abcdef',
  name: "'mine'",
  state: 'is active',
  image: 'image debian:13',
  entrypoint: 'entrypoint ["server","--port","80 81"]',
  resources: '3 vCPU, 5 GB memory, 21 GB disk, 1 GPU',
  size_bytes: '123456 bytes',
  created_at: '2026-01-02T03:04:05.000Z',
};

const failed: Sample = {
  result: {
    ...snapshot,
    state: 'error',
    state_reason: 'There is no such image.',
    entrypoint: null,
    size_bytes: null,
    user: 'ann',
  },
  says: {
    ...{ state: 'is error', state_reason: 'Reason: There is no such image.', entrypoint: 'no entrypoint' },
    user: 'no entrypoint, Linux user ann. Created',
  },
};

export const snapshotSamples: Samples = {
  'Sandbox.CreateSnapshot': [{ result: snapshot, says: shown }, failed],
  'Sandbox.GetSnapshot': [{ result: snapshot, says: shown }, failed],
  'Sandbox.ListSnapshots': [
    {
      result: { snapshots: [snapshot], total_count: 41, page: 2, page_size: 20, total_pages: 3 },
      says: {
        ...shown,
        snapshots: "- Snapshot 'mine' (snap_0123456789abcdef) is active",
        total_count: '41 snapshots',
        page: 'page 2 of 3; next: page 3.',
        total_pages: 'of 3',
      },
    },
    {
      result: { snapshots: [snapshot], total_count: 1, page: 1, page_size: 20, total_pages: 1 },
      says: { page: /^1 snapshot, page 1 of 1\.\n/ },
    },
  ],
};
