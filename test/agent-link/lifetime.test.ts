import { once } from 'node:events';
import { expect, it } from 'vitest';
import { startScratchSandbox } from './scratch-sandbox.ts';
import { SANDBOX } from './wire/fake-agent.ts';

it('only the sandbox and the generation that it was started as answer to hello', async () => {
  await using sandbox = await startScratchSandbox();
  await sandbox.agent.hello(sandbox.id, sandbox.generation);
  for (const [id, generation] of [
    [sandbox.id, sandbox.generation + 1],
    ['sb_zzzzzzzzzzzzzzzz', sandbox.generation],
  ] as const) {
    await expect(sandbox.agent.hello(id, generation)).rejects.toMatchObject({ code: 'failed_precondition' });
  }
});

it('the host ends it with SIGTERM: everything inside is asked to end, then ended', async () => {
  await using sandbox = await startScratchSandbox();
  const polite = sandbox.sh('trap "echo bye; exit 0" TERM; sleep 60 & wait', { timeoutMs: 60_000 });
  await sandbox.sh('sleep 0.2');
  expect(await sandbox.terminate()).toBeLessThan(1_000);
  await expect(polite).resolves.toMatchObject({ stdout: 'bye\n' });

  await using stubborn = await startScratchSandbox();
  await stubborn.sh('trap "" TERM; sleep 60 &');
  const took = await stubborn.terminate();
  expect(took).toBeGreaterThan(1_000);
  expect(took).toBeLessThan(1_950);
});

it('a watch lasts as long as the sandbox, or until it is given up', async () => {
  await using sandbox = await startScratchSandbox();
  const controller = new AbortController();
  const given = sandbox.agent.watch(sandbox.id, controller.signal);
  const kept = sandbox.agent.watch(sandbox.id, new AbortController().signal);
  const state = (watch: Promise<void>) =>
    Promise.race([watch.then(() => 'ended'), sandbox.sh('sleep 0.1').then(() => 'lasts')]);
  expect(await state(given)).toBe('lasts');
  controller.abort();
  await given;
  expect(await state(kept)).toBe('lasts');
  await sandbox.terminate();
  await kept;
  await sandbox.agent.watch(sandbox.id, new AbortController().signal);
});

it('a host that sends nothing, or nonsense, is disconnected and disturbs nobody', async () => {
  await using sandbox = await startScratchSandbox();
  const silent = await sandbox.openChannel();
  for (const nonsense of ['ffffffffff', '0000000009', '05000000017b7b7b7b7b', '0000000005']) {
    const channel = await sandbox.openChannel();
    channel.on('error', () => {});
    channel.on('end', () => channel.destroy());
    channel.resume().write(Buffer.from(nonsense, 'hex'));
    await once(channel, 'close');
  }
  await sandbox.agent.hello(SANDBOX, sandbox.generation);
  silent.destroy();
});

it('more connections than it serves wait for their turn', async () => {
  await using sandbox = await startScratchSandbox();
  const idle = await Promise.all(Array.from({ length: 200 }, () => sandbox.openChannel()));
  const waiting = sandbox.agent.hello(sandbox.id, sandbox.generation);
  for (const channel of idle) channel.destroy();
  await waiting;
});
