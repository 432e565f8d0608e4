/** Terminals. */
import assert from 'node:assert/strict';
import { step, until } from './steps.mjs';

export const terminalSteps = [
  step('terminals: runs a shell in a folder, with an environment and a size', async ({ sandbox }) => {
    const terminal = await open(sandbox, 'compat-sized', {
      cwd: '/tmp',
      envs: { PLACE: 'here' },
      cols: 91,
      rows: 33,
    });
    await terminal.handle.sendInput('pwd; echo "$PLACE-$(stty size)"\n');
    await until(() => terminal.text().includes('here-33 91'));
    assert.match(terminal.text(), /[\r\n]\/tmp\r\n/);
    await terminal.handle.sendInput('exit 7\n');
    assert.equal((await terminal.handle.wait()).exitCode, 7);
    await terminal.handle.disconnect();
  }),
  step('terminals: is listed and resized', async ({ sandbox }) => {
    const { process } = sandbox;
    const terminal = await open(sandbox, 'compat-listed', { cols: 80, rows: 24 });
    assert.ok((await process.listPtySessions()).some(({ id }) => id === 'compat-listed'));
    const { id, active } = await process.getPtySessionInfo('compat-listed');
    assert.deepEqual([id, active], ['compat-listed', true]);
    const resized = await process.resizePtySession('compat-listed', 100, 30);
    assert.deepEqual([resized.cols, resized.rows], [100, 30]);
    await terminal.handle.sendInput('stty size\n');
    await until(() => terminal.text().includes('30 100'));
    await terminal.handle.disconnect();
  }),
  step('terminals: goes on without its viewer, for the next', async ({ sandbox }) => {
    let text = '';
    const decoder = new TextDecoder();
    const handle = await sandbox.process.connectPty('compat-listed', {
      onData(data) {
        text += decoder.decode(data, { stream: true });
      },
    });
    await handle.waitForConnection();
    await handle.sendInput('echo back-$((40 + 2))\n');
    await until(() => text.includes('back-42'));
    await handle.disconnect();
  }),
  step('terminals: is killed', async ({ sandbox: { process } }) => {
    await process.killPtySession('compat-listed');
    await until(async () => {
      const found = (await process.listPtySessions()).find(({ id }) => id === 'compat-listed');
      return found === undefined || !found.active;
    });
  }),
];

async function open(sandbox, id, options) {
  let text = '';
  const decoder = new TextDecoder();
  const handle = await sandbox.process.createPty({
    id,
    ...options,
    onData(data) {
      text += decoder.decode(data, { stream: true });
    },
  });
  await handle.waitForConnection();
  return { handle, text: () => text };
}
