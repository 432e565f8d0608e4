/** Report on this host's GPUs for an operator; changes nothing. */
import type { GpuKind } from '../../../model/gpu-kind.ts';
import { allClaims } from './claims.ts';
import { freeOf } from './gpus.ts';
import { createInventory } from './inventory.ts';

export async function examineGpus(
  folders: string[],
  wanted: GpuKind,
): Promise<{ kind: string; names: string[]; held: number; problems: string[]; leftOut: string[] }> {
  const { gpus, problems, leftOut } = await createInventory(folders, wanted)();
  const names = gpus.map(({ name }) => name);
  const held = gpus.length - freeOf(gpus, allClaims()).length;
  return { kind: wanted.kind, names, held, problems, leftOut };
}
