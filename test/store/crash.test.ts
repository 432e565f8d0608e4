/** What was acknowledged is there after kill -9, and the file is whole. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { secretsOf } from '../../src/store/secrets.ts';
import { openSqliteStore } from '../../src/store/sqlite.ts';
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

/** The lines that the writer printed wholly before it was killed, 0 to 150 ms after its first. */
async function writeUntilKilled(file: string): Promise<string[]> {
  const writer = spawn(process.execPath, [join(import.meta.dirname, 'writer.ts'), file, key.toString('hex')]);
  onTestFinished(() => void writer.kill('SIGKILL'));
  let output = '';
  let problems = '';
  writer.stdout.on('data', (chunk: Buffer) => {
    output += chunk;
  });
  writer.stderr.on('data', (chunk: Buffer) => {
    problems += chunk;
  });
  const closed = once(writer, 'close');
  await Promise.race([once(writer.stdout, 'data'), closed]);
  await delay(Math.random() * 150);
  writer.kill('SIGKILL');
  const [, signal] = await closed;
  expect({ signal, problems }).toEqual({ signal: 'SIGKILL', problems: '' });
  return output.split('\n').slice(0, -1);
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
