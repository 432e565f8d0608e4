/** Reports the agent's size, and the service's peak memory. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { NATIVE } from '../../src/app/engine/installed.ts';
import { processMemory } from '../base/memory.ts';
import type { Scenario } from '../base/scenario.ts';

export const size: Scenario = async ({ sandhaven }) => {
  const { size: bytes } = await stat(join(NATIVE, 'sandhaven-agent'));
  const { resident, peak } = await processMemory(sandhaven.pid);
  return {
    samples: { agentSize: { sandhaven: [bytes / 1e6] } },
    details: { service_resident_bytes: resident, service_peak_bytes: peak },
    notes: [
      `service: ${(resident / 1e6).toFixed(0)} MB resident at the end, ${(peak / 1e6).toFixed(0)} MB at its peak.`,
    ],
  };
};
