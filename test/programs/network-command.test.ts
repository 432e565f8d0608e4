/** The reason that a network tool's failure leaves for the log and for `doctor`. */
import { afterEach, expect, it, vi } from 'vitest';
import type { SandhavenError } from '../../src/model/errors.ts';
import { runCommand } from '../../src/runtime/oci/network/command.ts';

afterEach(() => {
  vi.useRealTimers();
});

const reasonOf = (error: SandhavenError) => String((error.cause as Error).message);

it('names the time of a tool that took too long, and not the signal that ended it', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const reason = runCommand('sleep', ['600']).catch(reasonOf);
  vi.advanceTimersByTime(20_000);
  expect(await reason).toBe('sleep 600: it had not ended after 20 s');
});

it('names the status and the words of a tool that failed', async () => {
  const reason = runCommand('sh', ['-c', 'echo no such table >&2; exit 3']).catch(reasonOf);
  expect(await reason).toContain('exit 3: no such table');
});
