/**
 * Stands in for the repository on github.com that the suites clone: in each sandbox, Git's own rule for addresses leads to one
 * on its disk. It is there before a client learns of its sandbox, since their API passes through here.
 */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { call, type Service } from '../../support/service.ts';

const command = `
  set -e
  git init --quiet --initial-branch=master /srv/seed
  cd /srv/seed
  echo hello >README
  git add README
  git -c user.name=octocat -c user.email=octocat@example.org commit --quiet --message first
  git branch test
  git clone --quiet --bare . /srv/github/octocat/Hello-World.git
  chown -R daytona /srv/github
  git config --system url.file:///srv/github/.insteadOf https://github.com/`;

/** Returns the service as clients should know it. They are told its own address for all that is inside a sandbox. */
export async function lendRepository(service: Service): Promise<{ lender: Service; close(): void }> {
  const server = createServer((asked, answer) => {
    pass(service, asked, answer).catch((error: unknown) => answer.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { lender: { ...service, url: `http://127.0.0.1:${port}` }, close };
}

async function pass(service: Service, asked: IncomingMessage, answer: ServerResponse): Promise<void> {
  const { method = 'GET', url = '/', headers } = asked;
  const { host } = new URL(service.url);
  const onward = request(new URL(url, service.url), { method, headers: { ...headers, host } });
  const answered = new Promise<IncomingMessage>((resolve, reject) =>
    onward.once('response', resolve).once('error', reject),
  );
  onward.end(await buffer(asked));
  const response = await answered;
  const body = await buffer(response);
  const isCreation = method === 'POST' && url === '/daytona/api/sandbox' && response.statusCode === 200;
  const { id: sandbox = '' } = isCreation ? (JSON.parse(body.toString()) as { id: string }) : {};
  // One that waits for the build of its image clones nothing.
  if (sandbox.startsWith('sb_')) {
    // The account that owns it is made at its first use. Where there is no Git, nobody clones.
    await call(service, 'RunCommand', { sandbox, user: 'daytona', command: 'true' });
    await call(service, 'RunCommand', { sandbox, user: 'root', command });
  }
  const { 'transfer-encoding': _, ...kept } = response.headers;
  answer.writeHead(response.statusCode ?? 502, kept).end(body);
}
