/** Fills the disk as fast as it can, empties it, and begins again. */
import { call } from '../../support/service.ts';
import type { Attack } from '../attack.ts';

const FILL = `
rm -f /workspace/fill.*
while :; do
  n=0; while dd if=/dev/zero of=/workspace/fill.$n bs=1M count=256 conv=fsync 2>/dev/null; do n=$((n + 1)); done
  rm -f /workspace/fill.*; sync
done`;

export const attack: Attack = {
  name: 'a sandbox that fills its disk over and over',

  async run({ mallory, sandbox }, signal) {
    while (!signal.aborted) {
      // Its time is up after two seconds, or the sandbox was paused; either way it begins anew.
      await call(mallory, 'RunCommand', { sandbox, command: FILL, timeout_seconds: 2 }).catch(() => {});
    }
    await call(mallory, 'RunCommand', {
      sandbox,
      command: 'rm -f /workspace/fill.*',
      timeout_seconds: 5,
    }).catch(() => {});
  },
};
