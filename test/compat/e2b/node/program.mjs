/**
 * E2B's client for Node, unmodified, by every group of its calls that are here:
 *   node program.mjs VERSION, with the variables of ../service.ts
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { rejection, runSteps, step, until } from '../../daytona/node/steps.mjs';

const version = process.argv[2];
const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'sandhaven/compat-clients');
const installed = createRequire(join(cache, 'package.json'));
const { Sandbox, Template, waitForPort } = installed(`e2b-${version}`);
const interpreterVersion = '2.8';
const client = { version, sandbox: null };

const steps = {
  async 'create a sandbox'() {
    const options = { timeoutMs: 240_000, metadata: { team: 'a&b' }, envs: { COLOUR: 'sand' } };
    client.sandbox = await Sandbox.create(options);
    assert.equal(await client.sandbox.isRunning(), true);
  },
  async 'run a command as its user'({ commands }) {
    const { stdout, stderr, exitCode } = await commands.run('whoami; pwd; echo $COLOUR; echo err >&2');
    assert.deepEqual([stdout, stderr, exitCode], ['user\n/home/user\nsand\n', 'err\n', 0]);
  },
  async 'run one as root, elsewhere'({ commands }) {
    const { stdout } = await commands.run('whoami; pwd; echo $A', {
      user: 'root',
      cwd: '/tmp',
      envs: { A: "it's" },
    });
    assert.equal(stdout, "root\n/tmp\nit's\n");
  },
  async 'fail with the exit code'({ commands }) {
    const error = await rejection(commands.run('echo out; exit 3'));
    assert.deepEqual([error.name, error.exitCode, error.stdout], ['CommandExitError', 3, 'out\n']);
  },
  async 'lose nothing of a large output'({ commands }) {
    const { stdout } = await commands.run('seq 1 200000');
    assert.equal(stdout.length, 1_288_895);
  },
  async 'end at a time limit'({ commands }) {
    assert.equal((await rejection(commands.run('sleep 30', { timeoutMs: 1_500 }))).name, 'TimeoutError');
  },
  async 'write to a background command'({ commands }) {
    const cat = await commands.run('cat; echo done', { background: true, stdin: true });
    await commands.sendStdin(cat.pid, 'hey\n');
    await until(() => cat.stdout === 'hey\n');
    const [listed] = (await commands.list()).filter(({ pid }) => pid === cat.pid);
    assert.deepEqual([listed.cmd, listed.args], ['/bin/bash', ['-l', '-c', 'cat; echo done']]);
    await commands.closeStdin(cat.pid);
    assert.equal((await cat.wait()).stdout, 'hey\ndone\n');
  },
  async 'kill a command'({ commands }) {
    const sleeping = await commands.run('sleep 60', { background: true });
    assert.equal(await sleeping.kill(), true);
    assert.equal((await rejection(sleeping.wait())).name, 'CommandExitError');
    assert.equal(await commands.kill(sleeping.pid), false);
  },
  async 'leave a command and come back'({ commands }) {
    const first = await commands.run('sleep 1; echo late', { background: true });
    await first.disconnect();
    assert.equal((await (await commands.connect(first.pid)).wait()).stdout, 'late\n');
  },
  async 'write and read files'({ files }) {
    const written = await files.write('a.txt', 'one');
    assert.deepEqual([written.name, written.path, written.type], ['a.txt', '/home/user/a.txt', 'file']);
    assert.equal(await files.read('a.txt'), 'one');
    assert.deepEqual([...(await files.read('a.txt', { format: 'bytes' }))], [111, 110, 101]);
    await files.write([
      { path: 'b/x.txt', data: 'x' },
      { path: '/tmp/y é.txt', data: new Blob(['y']) },
    ]);
    assert.equal(await files.read('/tmp/y é.txt'), 'y');
    await files.write('z.txt', 'zz', { gzip: true });
    assert.equal(await files.read('z.txt'), 'zz');
    assert.equal((await rejection(files.read('none'))).name, 'FileNotFoundError');
  },
  async 'keep metadata'({ files }) {
    await files.write('m.txt', 'm', { metadata: { by: 'me' } });
    assert.deepEqual((await files.getInfo('m.txt')).metadata, { by: 'me' });
  },
  async 'own what it writes and makes anywhere'({ commands, files }) {
    assert.equal((await commands.run('touch /workspace/a; stat -c %U /workspace')).stdout, 'user\n');
    await files.write('/srv/one/a.txt', 'x');
    await files.makeDir('/srv/two');
    const owners = ['/srv/one', '/srv/one/a.txt', '/srv/two'].map(async (path) => {
      return (await files.getInfo(path)).owner;
    });
    assert.deepEqual(await Promise.all(owners), ['user', 'user', 'user']);
    assert.equal(await files.exists('/root/.bashrc'), true);
  },
  async 'list and describe files'({ files }) {
    const names = (await files.list('.', { depth: 2 })).map(({ path }) => path);
    assert.ok(names.includes('/home/user/b') && names.includes('/home/user/b/x.txt'));
    const { name, type, size, mode, permissions, owner } = await files.getInfo('a.txt');
    assert.deepEqual(
      [name, type, size, mode, permissions, owner],
      ['a.txt', 'file', 3, 0o644, '-rw-r--r--', 'user'],
    );
  },
  async 'make, move and remove'({ files }) {
    assert.deepEqual([await files.makeDir('d/e'), await files.makeDir('d/e')], [true, false]);
    assert.equal((await files.rename('a.txt', 'd/c.txt')).path, '/home/user/d/c.txt');
    assert.deepEqual([await files.exists('a.txt'), await files.exists('d/c.txt')], [false, true]);
    await files.remove('d');
    await files.remove('d');
    assert.equal(await files.exists('d'), false);
  },
  async 'watch a folder'({ files }) {
    const seen = [];
    await files.makeDir('w');
    const watch = await files.watchDir('w', ({ type, name }) => void seen.push(`${type} ${name}`));
    await files.write('w/n.txt', 'x');
    await until(() => seen.includes('create n.txt') && seen.includes('write n.txt'));
    await watch.stop();
    const entries = [];
    const described = await files.watchDir('w', ({ entry }) => void entries.push(entry?.path), {
      includeEntry: true,
    });
    await files.write('w/n.txt', 'y');
    await until(() => entries.includes('/home/user/w/n.txt'));
    await described.stop();
  },
  async 'pause it and go on'(box) {
    await box.commands.run('echo kept >/tmp/kept; sleep 300 >/dev/null &');
    assert.equal(await box.pause(), true);
    assert.equal(await box.isRunning(), false);
    const paused = await Sandbox.list({ query: { state: ['paused'] } }).nextItems();
    assert.deepEqual(
      paused.map(({ sandboxId }) => sandboxId),
      [box.sandboxId],
    );
    await Sandbox.connect(box.sandboxId, { timeoutMs: 240_000 });
    assert.equal((await box.commands.run('cat /tmp/kept; pgrep -c sleep')).stdout, 'kept\n1\n');
  },
  async 'pause it without memory'(box) {
    await box.commands.run('sleep 300 >/dev/null &');
    await box.pause({ keepMemory: false });
    assert.equal((await box.getInfo()).state, 'paused');
    await box.connect({ timeoutMs: 240_000 });
    assert.deepEqual([await box.files.read('m.txt'), await box.isRunning()], ['m', true]);
    assert.equal((await rejection(box.commands.run('pgrep -c sleep'))).stdout, '0\n');
  },
  async 'run code that remembers'(box) {
    const { Sandbox: Interpreter } = installed(`e2b-code-interpreter-${interpreterVersion}`);
    const interpreter = await Interpreter.connect(box.sandboxId);
    const printed = [];
    const first = await interpreter.runCode('import math\nx = 20\nprint("hey")', {
      onStdout: ({ line }) => void printed.push(line),
    });
    assert.deepEqual([printed, first.executionCount], [['hey\n'], 1]);
    assert.equal((await interpreter.runCode('x + math.floor(1.5)')).text, '21');
    const { error } = await interpreter.runCode('1 / 0');
    assert.deepEqual([error.name, error.value], ['ZeroDivisionError', 'division by zero']);
    const { results } = await interpreter.runCode('import pandas\npandas.DataFrame({"a": [1, 2]})');
    assert.deepEqual(results[0].data, { a: [1, 2] });
    const context = await interpreter.createCodeContext({ language: 'js', cwd: '/tmp' });
    assert.equal((await interpreter.runCode('const y: number = 3; await y + 1', { context })).text, '4');
    // The default ones of Python and JavaScript, and this.
    assert.equal((await interpreter.listCodeContexts()).length, 3);
    await interpreter.removeCodeContext(context);
    assert.equal(
      (await interpreter.runCode('echo $A', { language: 'bash', envs: { A: 'b' } })).logs.stdout[0],
      'b\n',
    );
  },
  async 'work in a terminal'({ pty }) {
    let shown = '';
    const onData = (data) => {
      shown += new TextDecoder().decode(data);
    };
    const terminal = await pty.create({ cols: 80, rows: 24, onData });
    await pty.resize(terminal.pid, { cols: 100, rows: 30 });
    await pty.sendInput(terminal.pid, new TextEncoder().encode('echo $((40+2)) $(tput cols)\nexit\n'));
    await terminal.wait();
    assert.match(shown, /42 100/);
  },
  async 'sign addresses of files'(box) {
    const form = new FormData();
    form.append('file', new Blob(['signed']), 'up.txt');
    const sent = await fetch(await box.uploadUrl('up.txt', { useSignatureExpiration: 60 }), {
      method: 'POST',
      body: form,
    });
    assert.equal(sent.status, 200);
    const url = await box.downloadUrl('up.txt');
    assert.equal(await (await fetch(url)).text(), 'signed');
    const other = await fetch(url.replace('up.txt', 'z.txt'));
    assert.deepEqual([other.status, await other.json()], [401, { code: 401, message: 'invalid signature' }]);
  },
  async 'reach a port that is open to everybody'(box) {
    await box.commands.run('python3 -m http.server 3000', { background: true });
    const url = `https://${box.getHost(3000)}`;
    await until(async () => (await fetch(url)).status === 200);
  },
  async 'reach a port by its token alone'() {
    const box = await Sandbox.create({ network: { allowPublicTraffic: false } });
    await box.commands.run('python3 -m http.server 3000', { background: true });
    const url = `https://${box.getHost(3000)}`;
    const headers = { 'e2b-traffic-access-token': box.trafficAccessToken };
    await until(async () => (await fetch(url, { headers })).status === 200);
    assert.equal((await fetch(url)).status, 403);
    const command = await box.commands.run('sleep 60', { background: true });
    await box.kill();
    assert.match((await rejection(command.wait())).message, /was killed or reached its end of life/);
    const gone = await fetch(url);
    assert.deepEqual(
      [gone.status, await gone.json()],
      [502, { code: 502, message: 'The sandbox was not found', sandboxId: box.sandboxId }],
    );
  },
  async 'change its network'(box) {
    const listed = await Sandbox.list({ order: 'asc' }).nextItems();
    assert.deepEqual(
      listed.map(({ sandboxId }) => sandboxId),
      [box.sandboxId],
    );
    const url = `https://${box.getHost(3000)}`;
    await box.updateNetwork({ denyOut: ['0.0.0.0/0'] });
    assert.equal((await fetch(url)).status, 200);
    await box.updateNetwork({});
  },
  async 'show, list and prolong the sandbox'(box) {
    const { state, metadata, cpuCount } = await box.getInfo();
    assert.deepEqual([state, metadata, cpuCount], ['running', { team: 'a&b' }, 2]);
    const [found] = await Sandbox.list({ query: { metadata: { team: 'a&b' } } }).nextItems();
    assert.equal(found.sandboxId, box.sandboxId);
    await box.setTimeout(600_000);
    const left = (await box.getInfo()).endAt.getTime() - Date.now();
    assert.ok(left > 500_000 && left <= 600_000);
    assert.equal((await box.getMetrics())[0].cpuCount, 2);
  },
  async 'connect to it by its id'({ sandboxId }) {
    const again = await Sandbox.connect(sandboxId);
    assert.equal((await again.commands.run('echo again')).stdout, 'again\n');
  },
  async 'hear of what is not here'(box) {
    const onlyAddress = box.updateNetwork({ denyOut: ['203.0.113.1'] });
    assert.match((await rejection(onlyAddress)).message, /migrate-from-e2b/);
  },
  async 'build a template, and start from it'() {
    const folder = mkdtempSync(join(tmpdir(), 'sandhaven-template-'));
    writeFileSync(join(folder, 'page.txt'), 'built');
    const template = Template({ fileContextPath: folder })
      .fromBaseImage()
      .setEnvs({ SHADE: '$light "sand"' })
      .copy('page.txt', 'site/')
      .runCmd('printf " $SHADE" >>site/page.txt && id -un >who')
      .runCmd('touch /root/made', { user: 'root' })
      .setStartCmd('python3 -m http.server 8000 -d site', waitForPort(8000));
    const log = [];
    const built = await Template.build(template, 'site:v1', {
      ...{ cpuCount: 1, memoryMB: 2_048 },
      onBuildLogs: (entry) => log.push(entry.message),
    });
    rmSync(folder, { recursive: true });
    assert.ok(log.some((message) => message.includes('COPY --chown=user')));
    assert.equal((await Template.getBuildStatus(built)).status, 'ready');
    assert.deepEqual([await Template.exists('site:v1'), await Template.exists('site')], [true, false]);
    const made = await Sandbox.create('site:v1', { timeoutMs: 60_000 });
    const { stdout } = await made.commands.run('cat site/page.txt who; echo "$SHADE"; sudo ls /root/made');
    assert.equal(stdout, 'built $light "sand"user\n$light "sand"\n/root/made\n');
    const { cpuCount, memoryMB } = await made.getInfo();
    assert.deepEqual([cpuCount, memoryMB], [1, 2_048]);
    await until(
      async () => (await made.commands.run('curl -s localhost:8000/page.txt || true')).stdout !== '',
    );
    await made.kill();
    const failing = Template().fromTemplate('site:v1').runCmd('echo why; exit 3');
    const error = await rejection(Template.build(failing, 'failing'));
    assert.match(error.message, /ended with exit code 3/);
  },
  async 'open nothing by the token of another sandbox'(box) {
    const other = await Sandbox.create({ timeoutMs: 60_000 });
    const options = { headers: { 'X-Access-Token': other.envdAccessToken } };
    const url = `https://${box.getHost(49983)}`;
    assert.equal((await fetch(`${url}/files?path=z.txt`, options)).status, 404);
    assert.equal((await fetch(`${url}/envs`, options)).status, 404);
    assert.equal(
      (
        await fetch(`https://api.${process.env['E2B_DOMAIN']}/v2/sandboxes`, {
          headers: { 'X-API-KEY': other.envdAccessToken },
        })
      ).status,
      403,
    );
    await other.kill();
  },
  async 'kill it'(box) {
    assert.equal(await box.kill(), true);
    assert.equal(await box.kill(), false);
    assert.equal(await box.isRunning(), false);
    await sleep(0);
  },
};

await runSteps(
  Object.entries(steps).map(([name, run]) => step(name, () => run(client.sandbox))),
  client,
);
process.exit();
