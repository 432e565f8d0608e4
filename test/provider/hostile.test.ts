/** A provider that answers as none should: what it says is bounded, checked, and not passed on. */
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { SandhavenError } from '../../src/model/errors.ts';
import { createGitHub } from '../../src/provider/github.ts';
import { alice } from '../store/fixtures.ts';
import { clientId, clientSecret } from '../support/code-host/code-host.ts';
import { type Harness, startHarness } from './harness.ts';

const ANSWER_BYTES = 1024 * 1024;

const WORDS = 'canary-words-of-the-provider';

async function answering(answer: (response: ServerResponse) => void): Promise<Harness> {
  const harness = await startHarness('app');
  harness.server.git.intercept = (_request, response) => {
    answer(response);
    return true;
  };
  return harness;
}

const json =
  (body: unknown, status = 200) =>
  (response: ServerResponse) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

/** Every question that is asked of a provider. */
async function failures({ host }: Harness): Promise<unknown[]> {
  const repository = { owner: 'ada', name: 'secret' };
  const asked = await Promise.allSettled([
    host.exchange({ code: 'canary-code-1', verifier: 'canary-verifier', redirectUri: 'http://x/' }),
    host.refresh('canary-refresh-1'),
    host.pollDevice('canary-device-1'),
    host.startDevice(),
    host.account('canary-token-1'),
    host.visibility('canary-token-1', repository),
    host.installationToken(repository, 'read'),
  ]);
  return asked.map((each) => (each.status === 'rejected' ? each.reason : 'answered'));
}

describe('an answer', () => {
  it.each([
    ['is no JSON', (response: ServerResponse) => void response.end(`<html>${WORDS}</html>`)],
    ['is JSON of another kind', json([WORDS])],
    [
      'has fields of another kind',
      json({ access_token: { a: WORDS }, id: WORDS, private: WORDS, device_code: 7 }),
    ],
    ['holds a token that would break a header', json({ access_token: 'a\r\nx: y', token_type: 'bearer' })],
    ['is an error of the provider', json({ message: WORDS }, 500)],
    ['is too large', json({ x: 'x'.repeat(ANSWER_BYTES) })],
    ['breaks off', (response: ServerResponse) => void response.destroy()],
  ])(
    'is an error in our words when it %s, without the provider’s and without a secret',
    async (_what, answer) => {
      for (const failure of await failures(await answering(answer))) {
        expect(failure).toBeInstanceOf(SandhavenError);
        const { code, message, fields } = failure as SandhavenError;
        expect(['unavailable', 'failed_precondition']).toContain(code);
        expect(`${message} ${JSON.stringify(fields)}`).not.toMatch(/canary-/);
      }
    },
  );

  it('is not followed when it redirects: nothing goes beyond the operator’s URLs', async () => {
    let asked = 0;
    const harness = await answering((response) => {
      asked++;
      response.writeHead(307, { location: '/elsewhere' }).end();
    });
    const found = await failures(harness);
    expect(asked).toBe(found.length);
    expect(await harness.host.visibility('token', { owner: 'a', name: 'b' })).toEqual({ kind: 'moved' });
  });

  it('is unavailable when it is a rate limit, and not a revoked authorization', async () => {
    const harness = await answering((response) => {
      response.writeHead(403, { 'x-ratelimit-remaining': '0' }).end('{}');
    });
    for (const failure of await failures(harness)) expect(failure).toMatchObject({ code: 'unavailable' });
  });

  it('is shown without a sign-on page of another site', async () => {
    const harness = await answering((response) => {
      response.writeHead(403, { 'x-github-sso': 'required; url=https://evil.example/x' }).end('{}');
    });
    expect(await harness.host.visibility('token', { owner: 'a', name: 'b' })).toEqual({
      kind: 'sign-on',
      url: null,
    });
  });

  it('is the operator’s to mend when it refuses the service itself, and names the cause', async () => {
    const harness = await startHarness();
    const { url, apiUrl } = harness.server;
    const wrong = { url, apiUrl, clientId, clientSecret: `${clientSecret}x`, app: null };
    const host = createGitHub(wrong, { now: Date.now });
    await expect(host.refresh('x')).rejects.toMatchObject({
      code: 'failed_precondition',
      fields: { hint: expect.stringContaining('client secret') },
    });
  });
});

describe('the app’s private key', () => {
  it.each(['', 'canary-key', '-----BEGIN RSA PRIVATE KEY-----\nY2FuYXJ5\n-----END RSA PRIVATE KEY-----'])(
    'is refused at the start when it is none, without a word of it (%#)',
    (privateKeyPem) => {
      const app = { id: '1', slug: 'x', privateKeyPem };
      const options = { url: 'https://h', apiUrl: 'https://h/api/v3', clientId, clientSecret, app };
      expect(() => createGitHub(options, Date)).toThrow(/not an RSA key/);
    },
  );
});

describe('a user', () => {
  it('gets unavailable while the provider is away, and keeps the authorization', async () => {
    const harness = await startHarness();
    await harness.authorize(alice, 'ada');
    const url = harness.server.repository('ada/secret');
    const entry = await harness.entry(alice, url);
    await harness.server.close();
    await expect(entry?.explain?.()).rejects.toMatchObject({ code: 'unavailable' });
    expect(await harness.store.authorizations.list(alice.id)).toHaveLength(1);
    harness.server.close = async () => {};
  });
});
