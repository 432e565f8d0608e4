/**
 * Claims of sandboxes on this machine's GPUs: one file per sandbox in /run/sandhaven/gpus, whole from the moment that
 * it appears, so that all GPUs of a sandbox are taken in one step. It is there before anything of the machine is,
 * and goes after everything of it has gone. Deciding happens under the machine-wide mutex.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { sandboxIdPattern } from '../../../model/ids.ts';
import { currentBootId, machineDir, withMutex } from '../host/locks.ts';
import type { Instance } from '../host/plan.ts';

export interface Claim {
  sandboxId: string;
  instance: Instance;
  /** Nothing of a machine outlives the boot in which it was started. */
  bootId: string;
  gpus: { name: string; hardware: string[] }[];
  /** For every program in the machine. */
  env: Record<string, string>;
}

const claimsDir = join(machineDir, 'gpus');

/** Of which nobody can tell what it holds, and so everything: no node at all is part of any hardware. */
const unreadable = {
  instance: { id: '', runDir: '/', dataDir: '/' },
  gpus: [{ name: 'unknown', hardware: [] }],
  env: {},
};

const claimSchema = z.object({
  instance: z.object({ id: z.string().regex(/^[0-9a-z]{6}$/), runDir: z.string(), dataDir: z.string() }),
  bootId: z.string(),
  gpus: z.array(z.object({ name: z.string(), hardware: z.array(z.string()).min(1) })),
  env: z.record(z.string(), z.string()),
});

/** Those of this boot. */
export function allClaims(): Claim[] {
  const bootId = currentBootId();
  return names().flatMap((sandboxId) => {
    const claim = readClaim(sandboxId);
    return claim?.bootId === bootId ? [claim] : [];
  });
}

export function readClaim(sandboxId: string): Claim | null {
  try {
    return parseClaim(sandboxId, readFileSync(pathOf(sandboxId), 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** @param text Contents of the file that is named by the sandbox. */
export function parseClaim(sandboxId: string, text: string): Claim {
  try {
    return { sandboxId, ...claimSchema.parse(JSON.parse(text)) };
  } catch {
    return { sandboxId, ...unreadable, bootId: currentBootId() };
  }
}

/** @param choose Gets the others' claims, and gives the sandbox's own, or throws. */
export function takeClaim(
  sandboxId: string,
  instance: Instance,
  choose: (others: Claim[]) => Pick<Claim, 'gpus' | 'env'>,
): void {
  withMutex(() => {
    const others = allClaims().filter((claim) => claim.sandboxId !== sandboxId);
    const contents = { instance, bootId: currentBootId(), ...choose(others) };
    mkdirSync(claimsDir, { recursive: true, mode: 0o700 });
    const draft = join(machineDir, 'claim.new');
    writeFileSync(draft, JSON.stringify(contents), { mode: 0o600 });
    renameSync(draft, pathOf(sandboxId));
  });
}

export function freeClaim(sandboxId: string): void {
  rmSync(pathOf(sandboxId), { force: true });
}

/** Removes those that are still as they were when they were read. */
export function freeClaims(claims: Claim[]): void {
  if (claims.length === 0) return;
  withMutex(() => {
    for (const claim of claims) {
      if (readClaim(claim.sandboxId)?.bootId === claim.bootId) freeClaim(claim.sandboxId);
    }
  });
}

function names(): string[] {
  try {
    return readdirSync(claimsDir).filter((name) => sandboxIdPattern.test(name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function pathOf(sandboxId: string): string {
  return join(claimsDir, sandboxId);
}
