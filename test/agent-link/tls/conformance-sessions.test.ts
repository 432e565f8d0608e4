/** The tests of agents by a unix socket, over TLS. */
import { describe } from 'vitest';
import { useTransport } from '../scratch-sandbox.ts';

useTransport('tls');

describe('over TLS: session-logs', async () => void (await import('../sessions/session-logs.test.ts')));
describe('over TLS: sessions', async () => void (await import('../sessions/sessions.test.ts')));
describe('over TLS: terminal', async () => void (await import('../sessions/terminal.test.ts')));
describe('over TLS: terminals', async () => void (await import('../terminals.test.ts')));
describe('over TLS: tunnels', async () => void (await import('../tunnels.test.ts')));
describe('over TLS: tunnels-hostile', async () => void (await import('../tunnels-hostile.test.ts')));
