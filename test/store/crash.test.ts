/** What was acknowledged is there after kill -9, and the file is whole. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { secretsOf } from '../../src/store/files/secrets.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { linesUntilKilled } from '../support/killed-program.ts';
import { temporaryDirectory } from './fixtures.ts';

const key = Buffer.alloc(32, 3);
const ROUNDS = 8;

it('every acknowledged write survives kill -9 at a random moment, round after round', async () => {
  const file = join(temporaryDirectory(), 'sandhaven.db');
  const acknowledged: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const lines = await writeUntilKilled(file);
    expect(lines.length, `round ${round} wrote nothing`).toBeGreaterThan(0);
    acknowledged.push(...lines);
    expect(integrityOf(file)).toBe('ok');
    await expectAllThere(file, acknowledged);
  }
}, 120_000);

/** 0 to 150 ms after its first line. */
async function writeUntilKilled(file: string): Promise<string[]> {
  const writer = join(import.meta.dirname, 'writer.ts');
  const { lines } = await linesUntilKilled(writer, [file, key.toString('hex')], Math.random() * 150);
  return lines;
}

async function expectAllThere(file: string, acknowledged: string[]): Promise<void> {
  const store = await openSqliteStore({ file, secrets: secretsOf(key) });
  try {
    const rows = new Map((await store.sandboxes.all()).map((box) => [box.id, box]));
    for (const line of acknowledged) {
      const { inserted, updated, touched, at } = JSON.parse(line);
      const box = rows.get(inserted ?? updated ?? touched);
      const number = Number(box?.id.slice(3));
      expect(box?.envVars, line).toEqual({ A: `value ${number}` });
      if (updated) expect(box, line).toMatchObject({ generation: 2, stateReason: `changed ${number}` });
      if (touched) expect(box?.lastActivityAt, line).toBe(at);
    }
  } finally {
    await store.close();
  }
}

function integrityOf(file: string): unknown {
  const database = new DatabaseSync(file);
  try {
    return database.prepare('PRAGMA integrity_check').get()?.['integrity_check'];
  } finally {
    database.close();
  }
}
