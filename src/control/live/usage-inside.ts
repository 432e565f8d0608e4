/**
 * Usage of a sandbox as its own kernel files say, read by the agent inside, where no host is within reach. Root in the
 * sandbox can put other files in their place, and then sees its own figures wrong.
 */
import { text } from 'node:stream/consumers';
import { limits } from '../../model/limits.ts';
import type { AgentLink, SandboxUsage } from '../ports/index.ts';

const FOLDER = '/sys/fs/cgroup';

export function usageInside(agent: Pick<AgentLink, 'readStream'>) {
  return async (id: string): Promise<SandboxUsage> => {
    const signal = AbortSignal.timeout(limits.usage.insideMs);
    const read = async (file: string): Promise<string> => {
      const part = { path: `${FOLDER}/${file}`, start: 0, end: limits.usage.insideBytes - 1 };
      return text((await agent.readStream(id, part, signal)).stream);
    };
    const [processor, memory, parts] = await Promise.all(
      ['cpu.stat', 'memory.current', 'memory.stat'].map((file) => read(file).catch(() => '')),
    );
    const microseconds = numberIn(processor, /^usage_usec (\d+)$/m);
    const bytes = numberIn(memory, /^(\d+)$/m);
    const cached = numberIn(parts, /^inactive_file (\d+)$/m) ?? 0;
    return {
      cpuMs: microseconds === null ? null : microseconds / 1_000,
      memoryBytes: bytes === null ? null : Math.max(0, bytes - cached),
      diskBytes: null,
    };
  };
}

function numberIn(file: string | undefined, pattern: RegExp): number | null {
  const digits = pattern.exec(file ?? '')?.[1];
  const number = Number(digits);
  return digits === undefined || !Number.isSafeInteger(number) ? null : number;
}
