/**
 * Ports of the services to the world. `store`, `runtime` and `agent-link` implement these and never import each other;
 * each port has one conformance suite in `test/`, run by every implementation.
 */
export type * from './access-store.ts';
export type * from './agent/contexts.ts';
export type * from './agent/detached.ts';
export type * from './agent/link.ts';
export type * from './agent/processes.ts';
export type * from './agent/search.ts';
export type * from './agent/sessions.ts';
export type * from './agent/watching.ts';
export type * from './audit-store.ts';
export type * from './builds.ts';
export type * from './code-host.ts';
export type * from './common.ts';
export type * from './credentials.ts';
export type * from './document-database.ts';
export type * from './git-gateway.ts';
export type * from './identity.ts';
export type * from './image-stores.ts';
export type * from './network.ts';
export type * from './replicas.ts';
export type * from './runtime.ts';
export type * from './secrets.ts';
export type * from './sign-in-store.ts';
export type * from './store.ts';
export type * from './user-store.ts';
export type * from './webhooks.ts';
