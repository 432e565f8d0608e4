/** Sandboxes themselves: made, found, configured, reached, and brought to an end. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isBefore, rejection, step, until } from './steps.mjs';

const PORT = 8080;
const pageText = 'served inside';

export const controlSteps = [
  step('control: creates a sandbox with labels, environment and user', async (client) => {
    client.sandbox = await client.daytona.create({
      name: `compat-${client.version.replace('.', '-')}`,
      language: 'python',
      user: 'daytona',
      labels: { purpose: 'compat', generation: client.version },
      envVars: { GIVEN: 'from creation' },
      autoStopInterval: 20,
    });
    const { sandbox } = client;
    assert.equal(sandbox.state, 'started');
    assert.equal(sandbox.user, 'daytona');
    assert.equal(sandbox.labels.purpose, 'compat');
    assert.equal(sandbox.autoStopInterval, 20);
    assert.ok(sandbox.cpu > 0 && sandbox.memory > 0 && sandbox.disk > 0);
    assert.ok(sandbox.organizationId && sandbox.target && sandbox.createdAt && sandbox.updatedAt);
  }),
  step('control: gets it by id and by name', async ({ daytona, sandbox }) => {
    assert.equal((await daytona.get(sandbox.id)).name, sandbox.name);
    assert.equal((await daytona.get(sandbox.name)).id, sandbox.id);
  }),
  step('control: lists it, and by label only it', async (client) => {
    assert.ok((await idsOf(client)).includes(client.sandbox.id));
    assert.deepEqual(await idsOf(client, { generation: client.version }), [client.sandbox.id]);
    assert.deepEqual(await idsOf(client, { generation: 'none' }), []);
  }),
  step('control: sets labels', async ({ daytona, sandbox }) => {
    const labels = { purpose: 'compat', changed: 'yes' };
    assert.equal((await sandbox.setLabels(labels)).changed, 'yes');
    assert.equal((await daytona.get(sandbox.id)).labels.changed, 'yes');
  }),
  step('control: sets the times of stopping, archiving and deletion', async ({ sandbox }) => {
    await sandbox.setAutostopInterval(30);
    await sandbox.setAutoArchiveInterval(120);
    await sandbox.setAutoDeleteInterval(60);
    await sandbox.refreshData();
    const times = () => [sandbox.autoStopInterval, sandbox.autoArchiveInterval, sandbox.autoDeleteInterval];
    assert.deepEqual(times(), [30, 120, 60]);
    await sandbox.setAutoDeleteInterval(-1);
    await sandbox.setAutostopInterval(0);
    await sandbox.refreshData();
    assert.deepEqual(times(), [0, 120, -1]);
  }),
  step('control: finds its home and work folder', async ({ sandbox }) => {
    assert.equal(await sandbox.getUserHomeDir(), '/home/daytona');
    assert.match(await sandbox.getWorkDir(), /^\//);
  }),
  step('control: notes activity', ({ sandbox }) => sandbox.refreshActivity()),
  step(
    'control: changes the network',
    async ({ sandbox }) => {
      await sandbox.updateNetworkSettings({ networkBlockAll: true });
      await sandbox.refreshData();
      assert.equal(sandbox.networkBlockAll, true);
      await sandbox.updateNetworkSettings({ networkBlockAll: false, networkAllowList: '203.0.113.0/24' });
      await sandbox.refreshData();
      assert.equal(sandbox.networkAllowList, '203.0.113.0/24');
    },
    '0.192',
  ),
  step(
    'control: sets when it is destroyed',
    async ({ sandbox }) => {
      await sandbox.setTtl(60);
      await sandbox.refreshData();
      const minutes = (Date.parse(sandbox.autoDestroyAt) - Date.now()) / 60_000;
      assert.ok(minutes > 58 && minutes < 61, sandbox.autoDestroyAt);
      await sandbox.setTtl(0);
      await sandbox.refreshData();
      assert.ok(!sandbox.autoDestroyAt, sandbox.autoDestroyAt);
    },
    '0.218',
  ),
  step(
    'control: measures it',
    async ({ sandbox }) => {
      const { memTotal, memUsed, diskTotal, cpuCount } = await sandbox.getMetricsLatest();
      assert.ok(memTotal > memUsed && diskTotal > 0 && cpuCount > 0);
    },
    '0.218',
  ),
  step('control: previews a port by a token, and by a signed address', async ({ sandbox }) => {
    await sandbox.process.executeCommand(
      `mkdir -p page && echo -n '${pageText}' >page/index.html && ` +
        `(nohup python3 -m http.server --directory page ${PORT} >/dev/null 2>&1 &)`,
    );
    const { url, token } = await sandbox.getPreviewLink(PORT);
    assert.ok(token);
    const served = () => visit(url, { 'x-daytona-preview-token': token });
    await until(async () => (await served()).text === pageText);
    assert.notEqual((await visit(url)).text, pageText);
    const signed = await sandbox.getSignedPreviewUrl(PORT, 60);
    assert.ok(signed.token);
    assert.equal((await visit(signed.url)).text, pageText);
  }),
  step('control: makes access by SSH', async ({ sandbox }) => {
    const { sshCommand, token, sandboxId } = await sandbox.createSshAccess(10);
    assert.equal(sandboxId, sandbox.id);
    assert.ok(token);
    assert.match(sshCommand, /^ssh /);
    assert.equal((await sandbox.validateSshAccess(token)).valid, true);
    await sandbox.revokeSshAccess(token);
    assert.equal((await sandbox.validateSshAccess(token)).valid, false);
  }),
  step('control: lists snapshots, and gets one by its name', async ({ daytona }) => {
    const { items, total } = await daytona.snapshot.list();
    assert.ok(total > 0);
    // The last one is the base image; others are of clients that run beside this one.
    const { name } = items.at(-1);
    assert.equal((await daytona.snapshot.get(name)).name, name);
  }),
  step(
    'control: keeps its files in a snapshot, and forks it',
    async ({ daytona, sandbox }) => {
      await sandbox.fs.uploadFile(Buffer.from('before'), 'copied.txt');
      await sandbox.createSnapshot('point');
      assert.equal(sandbox.state, 'started');
      const { items } = await daytona.snapshot.list({ sourceSandboxId: sandbox.id });
      assert.deepEqual(
        items.map(({ name, state, sourceSandboxId }) => [name, state, sourceSandboxId]),
        [['point', 'active', sandbox.id]],
      );
      const copies = [await sandbox.fork({ name: 'forked' }), await daytona.create({ snapshot: 'point' })];
      await sandbox.fs.uploadFile(Buffer.from('after'), 'copied.txt');
      for (const copy of copies) {
        assert.equal(String(await copy.fs.downloadFile('copied.txt')), 'before');
        await daytona.delete(copy);
      }
      await daytona.snapshot.delete('point');
    },
    '0.218',
  ),
  step(
    'builds: a sandbox of a Dockerfile with a file, and a snapshot of the same',
    async ({ sdk, daytona }) => {
      const folder = await mkdtemp(join(tmpdir(), 'daytona-build-'));
      try {
        const file = join(folder, 'note.txt');
        await writeFile(file, 'from the client\n');
        const large = join(folder, 'large.bin');
        await writeFile(large, Buffer.alloc(12 * 1024 * 1024, 'x'));
        const image = sdk.Image.base('base')
          .addLocalFile(file, '/opt/note.txt')
          .addLocalFile(large, '/opt/large.bin')
          .runCommands('tr a-z A-Z < /opt/note.txt > /opt/loud.txt')
          .env({ NOTE: 'is set' });
        const said = [];
        const built = await daytona.create(
          { image, name: 'built by Node' },
          { timeout: 80, onSnapshotCreateLogs: (text) => said.push(text) },
        );
        assert.deepEqual([built.state, built.name], ['started', 'built by Node']);
        assert.match(said.join('\n'), /RUN tr a-z A-Z/);
        const { result } = await built.process.executeCommand(
          'cat /opt/loud.txt; stat -c %s /opt/large.bin; echo $NOTE',
        );
        assert.equal(result.trim(), 'FROM THE CLIENT\n12582912\nis set');
        await daytona.delete(built);
        const { id, state } = await daytona.snapshot.create(
          { name: 'built by Node', image },
          { timeout: 80 },
        );
        assert.equal(state, 'active');
        assert.equal((await daytona.snapshot.get('built by Node')).id, id);
        await daytona.snapshot.delete('built by Node');
      } finally {
        await rm(folder, { recursive: true });
      }
    },
    '0.218',
  ),
  step('errors: a sandbox that is not there has its class', async ({ sdk, daytona }) => {
    const error = await rejection(daytona.get('no-such-sandbox'));
    assert.ok(error instanceof sdk.DaytonaNotFoundError, `${error.name}: ${error.message}`);
  }),
  step('errors: a wrong key is refused', async ({ sdk }) => {
    const stranger = new sdk.Daytona({ apiKey: 'shv_wrong' });
    const error = await rejection(stranger.get('any'));
    assert.ok(error instanceof sdk.DaytonaError, `${error.name}: ${error.message}`);
    assert.equal(error.statusCode, 401);
  }),
  step('errors: a call that is not there fails at once, with the reason', async ({ daytona }) => {
    const error = await rejection(daytona.volume.create('compat'));
    assert.equal(error.statusCode, 501);
    assert.match(error.message, /volumes/);
  }),
];

export const endSteps = [
  step('end: stops', async ({ sandbox }) => {
    await sandbox.fs.uploadFile(Buffer.from('kept'), 'kept.txt');
    await sandbox.stop();
    assert.equal(sandbox.state, 'stopped');
  }),
  step('end: starts with its files', async ({ sandbox }) => {
    await sandbox.start();
    assert.equal(sandbox.state, 'started');
    assert.equal(String(await sandbox.fs.downloadFile('kept.txt')), 'kept');
  }),
  step('end: is archived, and starts of its archive', async ({ sandbox }) => {
    await sandbox.stop();
    await sandbox.archive();
    await until(async () => {
      await sandbox.refreshData();
      return sandbox.state === 'archived';
    });
    await sandbox.start();
    assert.equal(String(await sandbox.fs.downloadFile('kept.txt')), 'kept');
  }),
  step('end: is deleted', async ({ sdk, daytona, sandbox }) => {
    await daytona.delete(sandbox);
    const error = await rejection(daytona.get(sandbox.id));
    assert.ok(error instanceof sdk.DaytonaNotFoundError, `${error.name}: ${error.message}`);
  }),
];

/** Ids of the sandboxes with some labels. The list has pages in older generations, and is iterated in newer ones. */
async function idsOf({ daytona, version }, labels) {
  if (isBefore(version, '0.190')) return (await daytona.list(labels)).items.map(({ id }) => id);
  const ids = [];
  for await (const { id } of daytona.list({ labels })) ids.push(id);
  return ids;
}

/** Any host is this machine: names below the domain of previews need no server. */
function visit(url, headers = {}) {
  const lookup = (_host, options, done) =>
    options.all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4);
  return new Promise((resolve, reject) => {
    const asked = request(`${url}/`, { headers, lookup }, async (response) => {
      let text = '';
      for await (const part of response.setEncoding('utf8')) text += part;
      resolve({ status: response.statusCode, text });
    });
    asked.on('error', reject).end();
  });
}
