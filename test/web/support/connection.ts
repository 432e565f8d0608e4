/** The page's connection to a terminal, in Node. */
import { join } from 'node:path';

const web = join(import.meta.dirname, '..', '..', '..', 'web');
const file = join(web, 'src', 'sandbox', 'terminal', 'connection', 'connection.ts');

/** The part that tests use; its types need those of a browser. */
export interface Connection {
  shown(bytes: number): void;
  retry(): void;
  leave(): void;
}

export interface Events {
  state(state: { name: string; error?: unknown }): void;
  ready(): void;
  printed(bytes: Uint8Array): void;
  resized(): void;
  skipped(): void;
  exists(): Promise<boolean>;
  mayConnect(path: string): Promise<void>;
  errorOf(problem: { detail: string }): unknown;
  size(): { cols: number; rows: number };
}

const { Connection: Made } = (await import(file)) as {
  Connection: new (target: { sandbox: string; terminal: string; user: string }, events: Events) => Connection;
};

/** Connects to the terminal main of the sandbox box. */
export function connect(events: Events, user = ''): Connection {
  return new Made({ sandbox: 'box', terminal: 'main', user }, events);
}
