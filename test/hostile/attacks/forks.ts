/** Snapshots and forks of a sandbox, as many at once as a member may ask for, and each deleted at once. */
import { act } from '../../support/people.ts';
import { call } from '../../support/service.ts';
import type { Attack } from '../attack.ts';
import { keepUp } from '../wire/http-bytes.ts';

export const attack: Attack = {
  name: 'forks',
  async run({ mallory, sandbox }, signal) {
    await Promise.all([
      keepUp(8, signal, async () => {
        const { status, body } = await call(mallory, 'SnapshotSandbox', { sandbox });
        if (status === 200) await act(mallory, 'DeleteSnapshot', { snapshot: body['id'] });
      }),
      keepUp(2, signal, async () => {
        const { status, body } = await call(mallory, 'ForkSandbox', { sandbox, count: 2 });
        if (status !== 200) return;
        for (const { id } of body['sandboxes'] as { id: string }[])
          await call(mallory, 'DeleteSandbox', { sandbox: id });
      }),
    ]);
  },
};
