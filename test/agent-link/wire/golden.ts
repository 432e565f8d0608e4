/** The golden exchanges of protocol/frames. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface GoldenFrame {
  type: 'request' | 'reply' | 'error' | 'item' | 'data' | 'end';
  /** Of a control frame. */
  json?: unknown;
  /** Of a data frame, as text. */
  text?: string;
  /** The whole frame. */
  hex: string;
}

export interface GoldenExchange {
  name: string;
  meaning: string;
  host: GoldenFrame[];
  agent: GoldenFrame[];
}

export interface GoldenBreach {
  name: string;
  meaning: string;
  /** What no side may send. */
  hex: string;
}

const FOLDER = fileURLToPath(new URL('../../../protocol/frames', import.meta.url));

const CARRIER = 'carrier-';

/** With agents of sandboxes. */
export function goldenExchanges(): GoldenExchange[] {
  return allExchanges().filter(({ name }) => !name.startsWith(CARRIER));
}

/** With carriers of disks. */
export function carrierExchanges(): GoldenExchange[] {
  return allExchanges().filter(({ name }) => name.startsWith(CARRIER));
}

function allExchanges(): GoldenExchange[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.json') && file !== 'breaches.json')
    .map((file) => ({ name: file.replace('.json', ''), ...read(file) }) as GoldenExchange);
}

export function goldenBreaches(): GoldenBreach[] {
  return read('breaches.json') as GoldenBreach[];
}

export function bytesOf(frames: GoldenFrame[]): Buffer {
  return Buffer.concat(frames.map(({ hex }) => Buffer.from(hex, 'hex')));
}

function read(file: string): object {
  return JSON.parse(readFileSync(join(FOLDER, file), 'utf8'));
}
