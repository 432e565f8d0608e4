/**
 * Web server for tests, by http on 80 and by https on 443: `<key file> <certificate file>` as arguments. It answers with
 * what it was asked, and below /stream without end.
 */
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';

const [key = '', cert = ''] = process.argv.slice(2);

function answer({ method, headers, url }: IncomingMessage, response: ServerResponse): void {
  if (!url?.startsWith('/stream')) {
    response.end(`${method} ${headers.host}${url}\n`);
    return;
  }
  const timer = setInterval(() => response.write('more\n'), 20);
  response.on('close', () => clearInterval(timer));
}

createServer(answer).listen(80, '0.0.0.0', () => {
  const secrets = { key: readFileSync(key), cert: readFileSync(cert) };
  createTlsServer(secrets, answer).listen(443, '0.0.0.0', () => console.log('listening'));
});
