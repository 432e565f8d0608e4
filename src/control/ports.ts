/**
 * What the services need of the world. `store`, `runtime` and `agent-link` implement these and never import
 * each other; each port has one conformance suite in `test/`, run by every implementation.
 */
export type * from './ports/access-store.ts';
export type * from './ports/agent-link.ts';
export type * from './ports/agent-processes.ts';
export type * from './ports/agent-search.ts';
export type * from './ports/agent-sessions.ts';
export type * from './ports/agent-tunnels.ts';
export type * from './ports/audit-store.ts';
export type * from './ports/code-host.ts';
export type * from './ports/common.ts';
export type * from './ports/document-database.ts';
export type * from './ports/git-gateway.ts';
export type * from './ports/registry-store.ts';
export type * from './ports/runtime.ts';
export type * from './ports/snapshot-store.ts';
export type * from './ports/store.ts';
export type * from './ports/user-store.ts';
