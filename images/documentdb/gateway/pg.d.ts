/** Declares the part of `pg` that the gateway uses; the package comes without types. */
declare module 'pg' {
  import type { EventEmitter } from 'node:events';

  export interface QueryResult {
    rows: Record<string, unknown>[];
  }

  export interface PoolClient extends EventEmitter {
    /** Process of the backend that serves this connection. */
    processID: number;
    query(text: string, values?: unknown[]): Promise<QueryResult>;
    /** @param destroy Closes the connection instead of keeping it. */
    release(destroy?: boolean): void;
  }

  export interface PoolConfig {
    host: string;
    port: number;
    user: string;
    database: string;
    max: number;
    connectionTimeoutMillis: number;
    idleTimeoutMillis: number;
    application_name: string;
  }

  export class Pool extends EventEmitter {
    constructor(config: PoolConfig);
    connect(): Promise<PoolClient>;
    query(text: string, values?: unknown[]): Promise<QueryResult>;
    end(): Promise<void>;
  }

  export function escapeIdentifier(text: string): string;
  export function escapeLiteral(text: string): string;
}
