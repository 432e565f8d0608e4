/** The tests of agents by a unix socket, over TLS. */
import { describe } from 'vitest';
import { useTransport } from '../scratch-sandbox.ts';

useTransport('tls');

describe('over TLS: files', async () => void (await import('../files/files.test.ts')));
describe('over TLS: folders', async () => void (await import('../files/folders.test.ts')));
describe('over TLS: replace', async () => void (await import('../files/replace.test.ts')));
describe('over TLS: search', async () => void (await import('../files/search.test.ts')));
describe('over TLS: sftp', async () => void (await import('../files/sftp.test.ts')));
describe('over TLS: sftp-protocol', async () => void (await import('../files/sftp-protocol.test.ts')));
