/** The tests of agents by a unix socket, over TLS. */
import { describe } from 'vitest';
import { useTransport } from '../scratch-sandbox.ts';

useTransport('tls');

describe('over TLS: code', async () => void (await import('../code.test.ts')));
describe('over TLS: execution', async () => void (await import('../execution.test.ts')));
describe('over TLS: lifetime', async () => void (await import('../lifetime.test.ts')));
describe('over TLS: process', async () => void (await import('../process.test.ts')));
