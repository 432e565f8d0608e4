/**
 * A code-hosting provider by https on 443, for a service in a network of its own: `<key file> <certificate file>` as
 * arguments. It prints each request's path and credentials as JSON. A line of input is what a person or the provider does,
 * and has one line of output with all tokens so far.
 */
import { readFileSync } from 'node:fs';
import { request as ask } from 'node:http';
import { createServer } from 'node:https';
import { createInterface } from 'node:readline';
import { startCodeHost } from '../../support/code-host/code-host.ts';

/** What may be asked for by a line of input. */
export type Act = { enter: string } | { forget: string } | { look: true };

const [key = '', cert = ''] = process.argv.slice(2);
const provider = await startCodeHost();
const { state } = provider;
state.tokenSeconds = 8 * 3_600;
provider.repository('ada/secret');

createInterface({ input: process.stdin }).on('line', (line) => {
  const act = JSON.parse(line) as Act;
  if ('enter' in act) provider.enter(act.enter, 'ada');
  else if ('forget' in act) state.tokens.delete(act.forget);
  console.log(JSON.stringify({ tokens: [...state.tokens.keys()], secrets: state.secrets }));
});

createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (request, response) => {
  const { method, url = '/', headers } = request;
  console.log(JSON.stringify({ url, authorization: headers.authorization ?? null }));
  const passed = ask(`${provider.url}${url}`, { method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  request.pipe(passed);
}).listen(443, '0.0.0.0', () => console.log('{}'));
