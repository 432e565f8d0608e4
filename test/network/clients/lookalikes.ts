/**
 * Look-alikes of public servers, all at one address: `<address> <folder> <key file> <certificate file>` as arguments. It
 * resolves every name that it has a folder for, serves the files of that folder, repositories by Git's own backend, and canned
 * answers of language models; it prints each request as JSON.
 */
import { createSocket } from 'node:dgram';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { join } from 'node:path';
import { nameEnd, numbers, readName, types } from '../../egress/support/messages.ts';
import { gitBackend } from '../../support/git-server.ts';
import { answerOfModel } from './models.ts';

const [address = '', folder = '', key = '', cert = ''] = process.argv.slice(2);
const gitHosts = ['github.com', 'git.example.org'];
const modelHosts = ['api.openai.com', 'api.anthropic.com'];
const contentTypes: Record<string, string> = {
  '.html': 'text/html',
  '.json': 'application/json',
  '.js': 'text/javascript',
};

function serve(request: IncomingMessage, response: ServerResponse): void {
  const { method, url = '/', headers } = request;
  const host = String(headers.host).replace(/:\d+$/, '');
  console.log(JSON.stringify({ host, method, url }));
  if (gitHosts.includes(host)) gitBackend(join(folder, 'git'), request, response);
  else if (modelHosts.includes(host)) answerOfModel(host, request, response);
  else serveFile(join(folder, host, decodeURIComponent(url.split('?')[0] ?? '')), response);
}

/** Folders are served by their index. */
function serveFile(path: string, response: ServerResponse): void {
  const indexes = ['index.html', 'index.json'].map((name) => join(path, name));
  const file = [path, ...indexes].find((one) => existsSync(one) && statSync(one).isFile());
  if (file === undefined) {
    response.writeHead(404).end();
    return;
  }
  const type = contentTypes[/\.\w+$/.exec(file)?.[0] ?? ''] ?? 'application/octet-stream';
  response.writeHead(200, { 'content-type': type }).end(readFileSync(file));
}

const resolver = createSocket('udp4');
resolver.on('message', (message, peer) => {
  const name = readName(message, 12).toLowerCase();
  const isKnown = [...gitHosts, ...modelHosts].includes(name) || existsSync(join(folder, name));
  const question = message.subarray(12, nameEnd(message, 12) + 4);
  const head = numbers(message.readUInt16BE(0), isKnown ? 0x8180 : 0x8183, 1, isKnown ? 1 : 0, 0, 0);
  const record = Buffer.concat([
    numbers(0xc00c, types.A, 1, 0, 60, 4),
    Buffer.from(address.split('.').map(Number)),
  ]);
  resolver.send(Buffer.concat([head, question, ...(isKnown ? [record] : [])]), peer.port, peer.address);
});
resolver.bind(53, address);

createServer(serve).listen(80, address, () => {
  const secrets = { key: readFileSync(key), cert: readFileSync(cert) };
  createTlsServer(secrets, serve).listen(443, address, () => console.log('listening'));
});
