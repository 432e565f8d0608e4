/** A port of a sandbox, asked by programs on a machine that resolves no name below localhost. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root, succeeds } from '../support/sdk-package.ts';
import { must } from '../support/service.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';
import { type PlainMachine, plainMachine } from './plain-machine.ts';

/** Answers with the method, the path, a header of its own and the body, and redirects /away. */
const SERVER = `
from http.server import BaseHTTPRequestHandler, HTTPServer
class Echo(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
        away = self.path == "/away"
        self.send_response(302 if away else 201)
        if away: self.send_header("location", "http://example.org/")
        self.send_header("x-token", str(self.headers.get("x-sandbox-preview-token")))
        self.end_headers()
        self.wfile.write(f"{self.command} {self.path} {self.headers.get('x-mine')} {body}".encode())
    do_GET = do_POST
    def log_message(self, *_): pass
HTTPServer(("127.0.0.1", 8000), Echo).serve_forever()
`;

let service: SharedService;
let machine: PlainMachine;
let preview: { url: string; token: string };

beforeAll(async () => {
  service = await sharedService();
  machine = await plainMachine();
  await must(service, 'CreateSandbox', { name: 'demo', cpu: 1, memory_gb: 1, disk_gb: 1 });
  await must(service, 'WriteFile', { sandbox: 'demo', path: 'server.py', content: SERVER });
  const command =
    'setsid python3 server.py >/dev/null 2>&1 & until (echo > /dev/tcp/127.0.0.1/8000) 2>/dev/null; do :; done';
  await must(service, 'RunCommand', { sandbox: 'demo', command: `bash -c '${command}'` });
  preview = (await must(service, 'GetPortPreviewUrl', { sandbox: 'demo', port: 8000 })) as typeof preview;
});

afterAll(async () => {
  await machine?.remove();
  await service?.stop();
});

const environment = () => ({ SANDBOX_API_URL: service.url, SANDBOX_API_KEY: service.apiKey });
const at = () => `http://127.0.0.1:${new URL(preview.url).port}`;
const host = () => new URL(preview.url).host;

/** What a program prints. */
async function printed(file: string, text: string, command: string): Promise<string> {
  await writeFile(join(machine.folder, file), text);
  const { status, stdout, stderr } = await machine.shell(command, environment());
  expect(status, stderr).toBe(0);
  return stdout;
}

describe('the preview of a port is reached', () => {
  it('by the SDK in Node, with the token, and without a redirect being followed', {
    timeout: 120_000,
  }, async () => {
    const text = `
      import { Sandhaven } from '@sandhaven/sdk';
      const preview = new Sandhaven().preview('demo', 8000);
      const posted = await preview.fetch('/a?b=1', { method: 'POST', body: 'text', headers: { 'x-mine': 'yes' } });
      console.log(posted.status, await posted.text());
      const away = await preview.fetch('/away');
      console.log(away.status, away.headers.get('location'), away.headers.get('x-token'));
      for (const path of ['//evil.example/', 'http://evil.example/']) console.log(await preview.fetch(path).catch(({ code }) => code));
      const signal = AbortSignal.abort('enough');
      console.log(await preview.fetch('/', { signal }).catch((reason) => reason));`;
    const run = `npm install ${service.url}/packages/sdk.tgz >&2 && node main.mjs`;
    expect(await printed('main.mjs', text, run)).toBe(
      [
        '201 POST /a?b=1 yes text',
        '302 http://example.org/ None',
        ...['invalid_argument', 'invalid_argument', 'enough', ''],
      ].join('\n'),
    );
  });

  it.each(['threads', 'asyncio'])(
    'by the SDK in Python with %s in the same way',
    { timeout: 120_000 },
    async (kind) => {
      const client = kind === 'threads' ? 'Sandhaven' : 'AsyncSandhaven';
      const text = `
import asyncio
from sandhaven import ${client}, SandhavenError

async def main():
    async with AsyncSandhaven() as client:
        preview = client.preview("demo", 8000)
        posted = await preview.fetch("/a?b=1", method="POST", content="text", headers={"x-mine": "yes"})
        print(posted.status_code, posted.text)
        away = await preview.fetch("/away")
        print(away.status_code, away.headers["location"], away.headers["x-token"])
        for path in ["//evil.example/", "http://evil.example/"]:
            try:
                await preview.fetch(path)
            except SandhavenError as error:
                print(error.code)

asyncio.run(main())`;
      const sync = text.replace('async with Async', 'with ').replaceAll('await ', '');
      // Another environment's pip: to make one takes longer than all the rest.
      const python = await succeeds(join(root, 'sdk-python/build/python-path.sh'), [], root);
      const from = `--no-index --find-links ${service.url}/packages/`;
      const install = `${python.trim()} -m pip install -q --target packages ${from} sandhaven`;
      const run = `{ [ -e packages ] || { ${install}; }; } >&2 && PYTHONPATH=packages python3 main.py`;
      expect(await printed('main.py', kind === 'threads' ? sync : text, run)).toBe(
        [
          '201 POST /a?b=1 yes text',
          '302 http://example.org/ None',
          'invalid_argument',
          'invalid_argument',
          '',
        ].join('\n'),
      );
    },
  );

  it('by curl, at the address, with the Host of the preview', async () => {
    const curl = `curl -sS -H 'Host: ${host()}' -H 'x-sandbox-preview-token: ${preview.token}' ${at()}/a`;
    expect((await machine.shell(curl)).stdout).toBe('GET /a None ');
  });

  it("by Python's urllib in the same way", async () => {
    const text = `
import urllib.request
headers = {"Host": "${host()}", "x-sandbox-preview-token": "${preview.token}"}
print(urllib.request.urlopen(urllib.request.Request("${at()}/a", headers=headers)).read().decode())`;
    expect(await printed('main.py', text, 'python3 main.py')).toBe('GET /a None \n');
  });

  it("by Node's http in the same way", async () => {
    const text = `
      import { get } from 'node:http';
      const headers = { host: '${host()}', 'x-sandbox-preview-token': '${preview.token}' };
      get('${at()}/a', { headers }, (answer) => answer.pipe(process.stdout));`;
    expect(await printed('http.mjs', text, 'node http.mjs')).toBe('GET /a None ');
  });
});
