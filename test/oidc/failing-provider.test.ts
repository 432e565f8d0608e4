/** A provider that is down, slow, huge or another: only this way of signing in is closed, and it says so. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { limits } from '../../src/model/limits.ts';
import { API_KEY } from '../surfaces/fakes/fake-services.ts';
import { Browser } from './support/browser.ts';
import { startWorld, type World } from './support/signing-in.ts';

const grace = { name: 'Grace', email: 'grace@example.org', email_verified: true, groups: ['dev'] };

const usual = {
  ...{ requestMs: 10_000, pauseMs: 10_000, refreshMs: 3_600_000 },
  ...{ exchanges: 32, exchangesPerNetwork: 8 },
};

/** Lowers a bound for one test. */
function lowered(name: keyof typeof usual, low: number): void {
  const bounds = limits.identity as Record<typeof name, number>;
  expect(bounds[name]).toBe(usual[name]);
  onTestFinished(() => {
    bounds[name] = usual[name];
  });
  bounds[name] = low;
}

async function byKey({ http, page }: World): Promise<number> {
  const headers = { ...page, 'content-type': 'application/json' };
  const body = JSON.stringify({ api_key: API_KEY });
  return (await fetch(`${http.url}/v1/sign-in`, { method: 'POST', headers, body })).status;
}

async function expectClosed(world: World, detail: string, status = 503): Promise<void> {
  const refused = await new Browser().start(world);
  expect([refused.status, refused.headers.getSetCookie()]).toEqual([status, []]);
  expect(await refused.json()).toMatchObject({ detail });
  expect(await byKey(world)).toBe(200);
}

/** Answers at one path with a challenge, as RFC 6749 has it for a client that authenticates by a header. */
function answering(path: string, challenge: string): World['team']['instead'] {
  return (request, response) => {
    if (request.url?.split('?')[0] !== path) return false;
    response.writeHead(401, { 'www-authenticate': challenge }).end();
    return true;
  };
}

describe('a provider', () => {
  it('that is down closes its own way alone, and opens it again when it is back', async () => {
    lowered('pauseMs', 0);
    const world = await startWorld();
    world.team.people.set('sub-1', grace);
    world.team.instead = (request) => {
      request.socket.destroy();
      return true;
    };
    await expectClosed(world, 'The identity provider does not answer.');
    expect(world.warnings.join()).toContain('other ways of signing in work');
    world.team.instead = null;
    expect((await new Browser().signIn(world, 'sub-1')).status).toBe(303);
  });

  it('that never answers is given up in time', async () => {
    lowered('requestMs', 200);
    const world = await startWorld();
    world.team.instead = () => true;
    await expectClosed(world, 'The identity provider does not answer.');
  });

  it('that stops in the middle is given up in time', async () => {
    lowered('requestMs', 200);
    const world = await startWorld();
    world.team.instead = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write('{"issuer":');
      return true;
    };
    await expectClosed(world, 'The identity provider does not answer.');
  });

  it('that answers without end is cut off', async () => {
    const world = await startWorld();
    world.team.instead = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const more = () => {
        while (!response.destroyed && response.write(' '.repeat(65_536)));
      };
      response.on('drain', more);
      more();
      return true;
    };
    await expectClosed(world, 'The answer of the identity provider is too large.');
  });

  it.each([
    ['a page', 'text/html', '<h1>Hello</h1>'],
    ['no description', 'application/json', '{}'],
    ['something else than an object', 'application/json', '[1]'],
  ])('that answers with %s is none', async (_what, type, body) => {
    const world = await startWorld();
    world.team.instead = (_request, response) => {
      response.setHeader('content-type', type).end(body);
      return true;
    };
    await expectClosed(world, 'The answer below --oidc-issuer is not that of an OpenID provider.');
  });

  it('that sends the service elsewhere is not followed', async () => {
    const world = await startWorld();
    world.team.instead = (request, response) => {
      if (request.url === '/elsewhere') throw new Error('the redirect was followed');
      response.writeHead(302, { location: '/elsewhere' }).end();
      return true;
    };
    await expectClosed(world, 'The answer below --oidc-issuer is not that of an OpenID provider.');
    expect(world.team.asked).not.toContain('/elsewhere');
  });

  it('that names another issuer is not used', async () => {
    const world = await startWorld();
    world.team.instead = (_request, response) => {
      const description = {
        issuer: 'https://evil.example',
        authorization_endpoint: 'https://evil.example/auth',
      };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(description));
      return true;
    };
    await expectClosed(world, 'The answer below --oidc-issuer is not that of an OpenID provider.');
  });

  it('is left alone for a moment after a failure', async () => {
    const world = await startWorld();
    world.team.instead = (request) => {
      request.socket.destroy();
      return true;
    };
    for (let count = 0; count < 3; count++) expect((await new Browser().start(world)).status).toBe(503);
    expect(world.team.asked).toHaveLength(1);
  });

  it('is asked once for its description, and the kept one serves while it is down', async () => {
    const world = await startWorld();
    await Promise.all([new Browser().start(world), new Browser().start(world)]);
    expect(world.team.asked).toEqual(['/.well-known/openid-configuration']);
    lowered('refreshMs', 0);
    world.team.instead = (request) => {
      request.socket.destroy();
      return true;
    };
    expect((await new Browser().start(world)).status).toBe(200);
    expect(world.team.asked).toHaveLength(2);
  });

  it('that fails at the code signs nobody in', async () => {
    const world = await startWorld();
    world.team.people.set('sub-1', grace);
    const browser = new Browser();
    world.team.next = 'sub-1';
    const url = await browser.toCallback(world);
    world.team.instead = (request) => {
      request.socket.destroy();
      return true;
    };
    const refused = await browser.go(url);
    expect(refused.status).toBe(503);
    expect(await refused.text()).toContain('The identity provider does not answer.');
  });

  it('that challenges the client is the operator’s to correct, with its word in the log', async () => {
    const world = await startWorld();
    world.team.people.set('sub-1', grace);
    world.team.instead = answering('/token', 'Basic realm="here", error="invalid_client"');
    const refused = await new Browser().signIn(world, 'sub-1');
    expect(refused.status).toBe(412);
    expect(await refused.text()).toContain('The identity provider refuses this service.');
    expect(world.warnings.join()).toContain('{"word":"invalid_client"}');
  });

  it('that challenges the token of one sign-in says nothing about the service', async () => {
    const world = await startWorld();
    world.team.people.set('sub-1', grace);
    world.team.instead = answering('/me', 'Bearer realm="here", error="invalid_token"');
    const refused = await new Browser().signIn(world, 'sub-1');
    expect(refused.status).toBe(401);
    expect(await refused.text()).toContain('The answer of the identity provider is not valid.');
  });

  it.each(['exchanges', 'exchangesPerNetwork'] as const)(
    'works for as many at once as the bound allows: %s',
    async (name) => {
      lowered(name, 1);
      lowered('requestMs', 500);
      const world = await startWorld();
      world.team.instead = () => true;
      const both = await Promise.all([new Browser().start(world), new Browser().start(world)]);
      expect(both.map(({ status }) => status).sort()).toEqual([429, 503]);
    },
  );
});
