/**
 * Shows how a service gives back the memory of a burst: its resident memory at rest, after 120 calls of one tool, three at a
 * time, and in the 35 seconds after them.
 *
 * SANDBOX_API_KEY=… bench/parts/idle-memory.ts URL PID TOOL PARAMETERS
 *
 * Give a tool of large answers: DocumentDb.FindDocuments '{"database_name":"shop","collection_name":"orders","limit":1000}'.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createEndpoint, send } from '../base/http.ts';
import { processMemory } from '../base/memory.ts';

const ROUNDS = 40;
const AT_ONCE = 3;
const WATCH_MS = 35_000;
const LOOK_MS = 5_000;

async function main(): Promise<void> {
  const [url, pid, tool, parameters = '{}'] = process.argv.slice(2);
  if (!url || !pid || !tool) throw new Error('usage: bench/parts/idle-memory.ts URL PID TOOL PARAMETERS');
  const { hostname, port } = new URL(url);
  const authorization = `Bearer ${process.env['SANDBOX_API_KEY']}`;
  const endpoint = createEndpoint({ host: hostname, port: Number(port) }, { authorization });
  const show = async (when: string) => {
    const { resident, peak } = await processMemory(Number(pid));
    console.log(`${when}: ${(resident / 1e6).toFixed(0)} MB, at most ${(peak / 1e6).toFixed(0)} MB`);
  };
  const body = Buffer.from(parameters);
  const call = () => send(endpoint, 'POST', `/v1/tools/${tool}`, { body, discard: true });
  await show('at rest');
  for (let round = 0; round < ROUNDS; round++) await Promise.all(Array.from({ length: AT_ONCE }, call));
  await show('after the burst');
  for (let ms = LOOK_MS; ms <= WATCH_MS; ms += LOOK_MS) {
    await sleep(LOOK_MS);
    await show(`${ms / 1_000} s later`);
  }
  endpoint.agent.destroy();
}

await main();
