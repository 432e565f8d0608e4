/** Declares what `pg` has and its types lack. */
import 'pg';

declare module 'pg' {
  interface PoolClient {
    /** Process of the backend that serves this connection. */
    processID: number;
  }
}
