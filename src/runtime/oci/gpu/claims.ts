/**
 * Claims of GPUs by the sandboxes of this host: one file per sandbox in /run/sandhaven/gpus, complete when it appears,
 * so that all GPUs of a sandbox are taken in one step. The file exists before any part of the machine, and is removed
 * after all of them. Decisions are made under the host-wide mutex.
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
  /** Boot in which the machine was started; nothing of it outlives that boot. */
  bootId: string;
  gpus: { name: string; hardware: string[] }[];
  /** Env vars of every program in the machine. */
  env: Record<string, string>;
}

const claimsDir = join(machineDir, 'gpus');

/** Claim of an unreadable file. It holds every GPU: an empty list of nodes is part of any hardware. */
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

/** Returns the claims of this boot. */
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

/** @param text Content of the file named by the sandbox. */
export function parseClaim(sandboxId: string, text: string): Claim {
  try {
    return { sandboxId, ...claimSchema.parse(JSON.parse(text)) };
  } catch {
    return { sandboxId, ...unreadable, bootId: currentBootId() };
  }
}

/** @param choose Receives the claims of other sandboxes, and returns this one's, or throws. */
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

/** Removes those claims that have not changed since they were read. */
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
