/**
 * Server of an API for tests, by https on 443: `<key file> <certificate file>` as arguments. It prints each request's path
 * and credentials as JSON, and answers with all that it was sent, credentials included.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';

const [key = '', cert = ''] = process.argv.slice(2);

createServer({ key: readFileSync(key), cert: readFileSync(cert) }, ({ url, headers }, response) => {
  console.log(JSON.stringify({ url, authorization: headers.authorization ?? null }));
  response.setHeader('content-type', 'application/json');
  response.setHeader('x-seen', headers.authorization ?? '');
  response.end(JSON.stringify(headers));
}).listen(443, '0.0.0.0', () => console.log('{}'));
