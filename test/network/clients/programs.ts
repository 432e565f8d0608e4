/** The clients as people run them: a program, its arguments, and what it prints at the end. */
import { execFileSync } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';

export interface Client {
  /** Rules of its sandbox: of a profile, or its own. */
  profile: 'packages' | 'git' | 'llm' | null;
  allow: string[];
  /** For `sh -e`, in an empty folder, which is its home. */
  script: string;
  /** In its output. */
  prints: string;
  /** Hosts that it asks. */
  hosts: string[];
  /** Names that it asks the resolver for besides, which no rule allows. */
  refused: string[];
  /** Further ones that it asks for by itself, each version others. */
  background?: RegExp;
}

const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'sandhaven/model-clients');
const python = execFileSync(join(import.meta.dirname, 'sdks/python-path.sh'))
  .toString()
  .trim();
const node = process.execPath;

const inNode = (text: string) =>
  `ln -s ${cache}/node_modules . && cat >ask.mjs <<'EOF'\n${text}\nEOF\n${node} ask.mjs`;
const inPython = (text: string) => `${python} - <<'EOF'\n${text}\nEOF`;

export const clients: Record<string, Client> = {
  pip: {
    ...{ profile: 'packages', allow: [], refused: [] },
    script: `${python} -m pip install --target packages demo-package && ls packages`,
    prints: 'Successfully installed demo-package-1.0.0',
    hosts: ['files.pythonhosted.org', 'pypi.org'],
  },
  npm: {
    ...{ profile: 'packages', allow: [], refused: [] },
    script: `npm install demo-package && ${node} -p "require('demo-package')"`,
    prints: '42',
    hosts: ['registry.npmjs.org'],
  },
  apt: {
    ...{ profile: 'packages', allow: [] },
    script: `
      mkdir -p etc/apt/apt.conf.d etc/apt/preferences.d var/lib/apt/lists/partial var/cache/apt/archives/partial
      : >status
      cat >etc/apt/sources.list <<EOF
deb [trusted=yes] http://deb.debian.org/debian stable main
deb [trusted=yes] http://security.debian.org/debian-security stable-security main
EOF
      cat >apt.conf <<EOF
Dir "$PWD/";
Dir::Bin::methods "/usr/lib/apt/methods/";
Dir::Bin::dpkg "/usr/bin/dpkg";
Dir::State::status "$PWD/status";
APT::Architecture "amd64";
APT::Sandbox::User "root";
EOF
      export APT_CONFIG="$PWD/apt.conf"
      apt-get update
      apt-get download demo-package
      dpkg-deb --field demo-package_1.0.0_all.deb Package`,
    prints: 'demo-package',
    hosts: ['deb.debian.org', 'security.debian.org'],
    refused: ['_http._tcp.deb.debian.org', '_http._tcp.security.debian.org'],
  },
  cargo: {
    ...{ profile: 'packages', allow: [], refused: [] },
    script: `
      mkdir src && : >src/lib.rs
      printf '[package]\\nname = "own"\\nversion = "0.1.0"\\nedition = "2021"\\n[dependencies]\\ndemo-package = "1"\\n' >Cargo.toml
      cargo fetch
      cat Cargo.lock`,
    prints: 'name = "demo-package"',
    hosts: ['index.crates.io', 'static.crates.io'],
  },
  go: {
    ...{ profile: 'packages', allow: [], refused: [] },
    // The checksum database signs what it says, so no look-alike can be one: it is asked, and then left out.
    script: `
      export GOPATH="$PWD/go" GOTOOLCHAIN=local GOFLAGS=-modcacherw
      go mod download -json example.com/demo@v1.0.0 || echo unverified
      GONOSUMDB=example.com go mod download -json example.com/demo@v1.0.0`,
    prints: '"Version": "v1.0.0"',
    hosts: ['proxy.golang.org', 'sum.golang.org'],
  },
  'git over https': {
    ...{ profile: 'git', allow: [], refused: [] },
    script: 'git clone https://github.com/example/demo.git && cat demo/README',
    prints: 'demo',
    hosts: ['github.com'],
  },
  'git over http, with a push': {
    ...{ profile: null, allow: ['http://git.example.org'], refused: [] },
    script: `
      git clone http://git.example.org/example/demo.git
      cd demo
      head -c 3000000 /dev/urandom >large
      git add large
      git -c user.name=Test -c user.email=test@example.org commit --quiet --message=large
      git push origin HEAD:large
      git ls-remote origin large`,
    prints: 'refs/heads/large',
    hosts: ['git.example.org'],
  },
  curl: {
    ...{ profile: null, allow: ['page.example.org'], refused: ['tracker.example.net'] },
    script: `
      curl --silent --show-error --fail http://page.example.org/ https://page.example.org/
      curl --silent https://tracker.example.net/ || echo "status $?"`,
    prints: 'status 6',
    hosts: ['page.example.org'],
  },
  'Python’s httpx': {
    ...{ profile: null, allow: ['page.example.org'], refused: [] },
    script: inPython(`
import httpx
print(httpx.get('https://page.example.org/').text)`),
    prints: 'id="said"',
    hosts: ['page.example.org'],
  },
  'Python’s aiohttp': {
    ...{ profile: null, allow: ['page.example.org'], refused: [] },
    script: inPython(`
import aiohttp, asyncio
async def ask():
    async with aiohttp.ClientSession() as session, session.get('https://page.example.org/') as answer:
        print(await answer.text())
asyncio.run(ask())`),
    prints: 'id="said"',
    hosts: ['page.example.org'],
  },
  chromium: {
    ...{ profile: null, allow: ['https://page.example.org', 'https://cdn.example.org'] },
    script: `chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$PWD/profile" \\
      --ignore-certificate-errors-spki-list="$SPKI" --virtual-time-budget=5000 --dump-dom https://page.example.org/`,
    prints: 'the script ran',
    hosts: ['cdn.example.org', 'page.example.org'],
    refused: ['tracker.example.net'],
    background: /\.(google|googleapis|gvt1)\.com$/,
  },
  Playwright: {
    ...{ profile: null, allow: ['https://page.example.org', 'https://cdn.example.org'] },
    script: inNode(`
import { chromium } from '${import.meta.resolve('playwright-core')}';
const args = ['--no-sandbox', '--disable-dev-shm-usage', '--ignore-certificate-errors-spki-list=' + process.env.SPKI];
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args });
const page = await browser.newPage();
await page.goto('https://page.example.org/');
await page.getByText('the script ran').waitFor();
console.log(await page.textContent('body'));
await browser.close();`),
    prints: 'the script ran',
    hosts: ['cdn.example.org', 'page.example.org'],
    refused: ['tracker.example.net'],
    background: /\.(google|googleapis|gvt1)\.com$/,
  },
  'OpenAI for Python': {
    ...{ profile: 'llm', allow: [], refused: [] },
    script: inPython(`
import openai
client = openai.OpenAI()
asked = dict(model='test-model', messages=[{'role': 'user', 'content': 'hello'}])
print(client.chat.completions.create(**asked).choices[0].message.content)
print('streamed:', ''.join(part.choices[0].delta.content for part in client.chat.completions.create(stream=True, **asked)))`),
    prints: 'the model answers key-of-tests\nstreamed: the model answers key-of-tests',
    hosts: ['api.openai.com'],
  },
  'OpenAI for Node': {
    ...{ profile: 'llm', allow: [], refused: [] },
    script: inNode(`
import OpenAI from 'openai';
const client = new OpenAI();
const asked = { model: 'test-model', messages: [{ role: 'user', content: 'hello' }] };
console.log((await client.chat.completions.create(asked)).choices[0].message.content);
let text = 'streamed: ';
for await (const part of await client.chat.completions.create({ ...asked, stream: true })) text += part.choices[0].delta.content;
console.log(text);`),
    prints: 'the model answers key-of-tests\nstreamed: the model answers key-of-tests',
    hosts: ['api.openai.com'],
  },
  'Anthropic for Python': {
    ...{ profile: 'llm', allow: [], refused: [] },
    script: inPython(`
import anthropic
client = anthropic.Anthropic()
asked = dict(model='test-model', max_tokens=10, messages=[{'role': 'user', 'content': 'hello'}])
print(client.messages.create(**asked).content[0].text)
with client.messages.stream(**asked) as stream:
    print('streamed:', ''.join(stream.text_stream))`),
    prints: 'the model answers key-of-tests\nstreamed: the model answers key-of-tests',
    hosts: ['api.anthropic.com'],
  },
  'Anthropic for Node': {
    ...{ profile: 'llm', allow: [], refused: [] },
    script: inNode(`
import Anthropic from '@anthropic-ai/sdk';
const client = new Anthropic();
const asked = { model: 'test-model', max_tokens: 10, messages: [{ role: 'user', content: 'hello' }] };
console.log((await client.messages.create(asked)).content[0].text);
console.log('streamed: ' + (await client.messages.stream(asked).finalText()));`),
    prints: 'the model answers key-of-tests\nstreamed: the model answers key-of-tests',
    hosts: ['api.anthropic.com'],
  },
};
