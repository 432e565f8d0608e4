/** Work in a real sandbox: sessions with live logs, code with a chart, Git, ports, SSH, settings. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { launchBrowser } from './support/browsers.ts';
import { faultsOf, takePicture } from './support/looks.ts';
import { type Walker, walkerOf } from './support/walker.ts';

let browser: Browser;
let walker: Walker;
let sandbox: string;

beforeAll(async () => {
  browser = await launchBrowser();
  walker = await walkerOf(browser, inject('sharedService'), 'Work');
  ({ id: sandbox } = await walker.sdk.createSandbox({ name: 'work', cpu: 1, memory_gb: 1, disk_gb: 1 }));
});

afterAll(async () => {
  await walker?.close();
  await browser?.close();
});

const run = (command: string) => walker.sdk.runCommand({ sandbox, command });
const tab = (name: string) => walker.go(`/sandboxes/${sandbox}/${name}`);
const output = (label: string, text: string) =>
  walker.page.getByRole('region', { name: label, exact: true }).getByText(text).waitFor();

describe('a session', () => {
  it('shows the log of a command as it grows, and takes its input', async () => {
    await tab('sessions');
    await walker.click('New session');
    const command = walker.page.getByRole('textbox', { name: /^Command in / });
    await command.fill('read begin; echo first; read word; echo "got $word"');
    await command.press('Enter');
    await walker.sees('Nothing is printed yet.');
    await walker.fill('Line of input', 'go');
    await walker.page.getByRole('textbox', { name: 'Line of input' }).press('Enter');
    await output('Output of the command', 'first');
    await walker.sees('running');
    expect(await faultsOf(walker.page)).toEqual([]);
    await walker.fill('Line of input', 'hello');
    await walker.page.getByRole('textbox', { name: 'Line of input' }).press('Enter');
    await output('Output of the command', 'got hello');
    const { sessions } = await walker.sdk.listSessions({ sandbox });
    await expect
      .poll(async () => (await walker.sdk.listSessions({ sandbox })).sessions[0]?.recent_commands[0])
      .toMatchObject({ status: 'completed', exit_code: 0 });
    expect(sessions).toHaveLength(1);
  });
});

describe('a process', () => {
  it('is started, shows its output, takes input, and ends', async () => {
    await tab('processes');
    await walker.sees('No process has been started.');
    await walker.fill('Command', 'echo out; echo err >&2; read word; echo "got $word"; exit 3');
    await walker.fill('Tag', 'asking');
    await walker.click('Start');
    await output('Output of the process', 'out');
    await walker.sees('running');
    expect(await faultsOf(walker.page)).toEqual([]);
    await walker.page.getByText('stderr', { exact: true }).click();
    const region = walker.page.getByRole('region', { name: 'Output of the process' });
    await expect.poll(() => region.textContent()).toBe('err\n');
    await walker.page.getByText('Both', { exact: true }).click();
    await walker.fill('Line of input', 'hello');
    await walker.page.getByRole('textbox', { name: 'Line of input' }).press('Enter');
    await output('Output of the process', 'got hello');
    await walker.sees('exit 3');
    expect(await walker.sdk.processes.list(sandbox)).toMatchObject([
      { tag: 'asking', status: 'ended', exit_code: 3 },
    ]);
    await walker.click('Forget');
    await walker.confirm('Forget the process');
    await walker.sees('No process has been started.');
    expect(await walker.sdk.processes.list(sandbox)).toEqual([]);
  });

  it('takes a signal, and is killed with what it has started', async () => {
    const started = await walker.sdk.processes.start(
      sandbox,
      `trap 'echo again' HUP; while :; do sleep 0.1; done`,
    );
    await walker.click('Refresh');
    await walker.page.getByRole('button', { name: /^\d+: trap/ }).click();
    await walker.click('Signal');
    await walker.choose('HUP');
    await output('Output of the process', 'again');
    expect(await walker.sdk.processes.list(sandbox)).toMatchObject([{ process: started.id, viewers: 1 }]);
    await walker.click('End');
    await walker.confirm('End the process');
    await walker.sees('No process has been started.');
  });
});

describe('a run', () => {
  it('shows what code printed and drew', async () => {
    await tab('code');
    await walker.page.locator('.cm-content').click();
    await walker.page.keyboard.press('Control+a');
    await walker.page.keyboard.type(CHART);
    await walker.click('Run');
    await output('Output', 'drawn');
    const chart = walker.page.getByRole('figure').getByRole('img', { name: /^Sales \(line/ });
    await expect
      .poll(() => chart.evaluate((one) => 'naturalWidth' in one && Number(one.naturalWidth) > 100))
      .toBe(true);
    expect(await faultsOf(walker.page)).toEqual([]);
    await takePicture(walker.page, 'chart');
  });

  it('is made as the user that is named', async () => {
    await walker.page.getByText('Command', { exact: true }).first().click();
    await walker.page.locator('.cm-content').click();
    await walker.page.keyboard.press('Control+a');
    await walker.page.keyboard.type('echo "$(whoami) in $PWD"');
    await walker.fill('User', 'ann');
    await walker.click('Run');
    await output('Output', 'ann in /home/ann');
    await walker.fill('User', '');
  });

  it('shows how a command failed', async () => {
    await walker.page.locator('.cm-content').click();
    await walker.page.keyboard.press('Control+a');
    await walker.page.keyboard.type('echo lost >&2; exit 3');
    await walker.page.keyboard.press('Control+Enter');
    await walker.sees('exit 3');
    await output('Output', 'lost');
  });
});

describe('a repository', () => {
  it('shows its branch, what has changed, and its commits', async () => {
    await tab('git');
    await walker.sees('No repository is shown');
    expect(await faultsOf(walker.page)).toEqual([]);
    await run(
      'git init -q -b trunk repo && cd repo && echo a > a && git add a && ' +
        'git -c user.name=Ada -c user.email=ada@example.org commit -qm "Add a" && echo b >> a && echo c > c',
    );
    await walker.fill('Repository', 'repo');
    await walker.click('Look');
    for (const text of ['trunk', 'Modified 1', 'Untracked 1', 'Add a']) await walker.sees(text);
    expect(await walker.sdk.gitStatus({ sandbox, path: 'repo' })).toMatchObject({
      ...{ branch: 'trunk', modified: ['a'], untracked: ['c'] },
    });
    expect(await faultsOf(walker.page)).toEqual([]);
  });
});

describe('a port', () => {
  it('is opened by a signed URL, in a tab and on a site of its own', async () => {
    await walker.sdk.writeFile({ sandbox, path: 'site/index.html', content: '<h1>inside</h1>' });
    await run('nohup python3 -m http.server 8123 -d site >/dev/null 2>&1 &');
    await expect
      .poll(async () => (await walker.sdk.listPorts({ sandbox })).ports.map(({ port }) => port))
      .toContain(8123);
    await tab('access');
    const opening = walker.context.waitForEvent('page');
    await walker.click('Open port 8123 in a new tab');
    const site = await opening;
    await site.getByRole('heading', { name: 'inside' }).waitFor();
    const { hostname, port } = new URL(site.url());
    expect(hostname).toMatch(/^8123-[a-z0-9]+\.localhost$/);
    expect(port).not.toBe(new URL(walker.origin).port);
    expect(await site.evaluate('[window.opener, document.referrer, document.cookie]')).toEqual([
      null,
      '',
      '',
    ]);
    await site.close();
    expect(await faultsOf(walker.page)).toEqual([]);
  });

  it('is closed to a URL that was revoked', async () => {
    const { url } = await walker.sdk.getPortPreviewUrl({ sandbox, port: 8123, signed: true });
    const visitor = await walker.context.newPage();
    expect((await visitor.goto(url))?.status()).toBe(200);
    await walker.click('Revoke all access');
    await walker.confirm('Revoke access');
    await walker.sees('2 signed URLs');
    expect((await visitor.goto(url))?.status()).toBeGreaterThanOrEqual(400);
    await visitor.close();
  });
});

describe('SSH', () => {
  it('has a command with its token, shown once', async () => {
    await walker.click('Make access');
    const command = walker.page.getByRole('status').getByText(/^ssh /);
    await command.waitFor();
    expect(await command.textContent()).toMatch(/@127\.0\.0\.1|localhost/);
    await walker.sees('It is shown only once.');
    expect(await faultsOf(walker.page)).toEqual([]);
  });
});

describe('settings', () => {
  it('are saved, and the service has them', async () => {
    await tab('');
    await walker.fill('Stop after idle minutes', '33');
    await walker.click('Save intervals');
    await walker.sees('Intervals saved');
    expect(await walker.sdk.getSandbox({ sandbox })).toMatchObject({ auto_stop_minutes: 33 });
    await walker.fill('Deadline in minutes', '90');
    await walker.click('Save deadline');
    await walker.sees('Now: in 1 h, to stop. 0: none');
    const { deadline_at, deadline_action } = await walker.sdk.getSandbox({ sandbox });
    expect(deadline_action).toBe('stop');
    expect((Date.parse(String(deadline_at)) - Date.now()) / 60_000).toBeCloseTo(90, -1);
    await walker.fill('Deadline in minutes', '0');
    await walker.click('Save deadline');
    await walker.sees('None now');
    expect(await walker.sdk.getSandbox({ sandbox })).not.toHaveProperty('deadline_at');
    await walker.page.getByRole('form', { name: 'Labels' }).getByRole('textbox').fill('team=walk');
    await walker.click('Save labels');
    await walker.sees('Labels saved');
    expect(await walker.sdk.getSandbox({ sandbox })).toMatchObject({ labels: { team: 'walk' } });
  });

  it('lead to the calls of this sandbox', async () => {
    await walker.click('Activity');
    const calls = walker.page.getByRole('region', { name: 'Calls, table' });
    await calls.getByText('Sandbox.SetSandboxLabels').first().waitFor();
    expect(new URL(walker.page.url()).searchParams.get('sandbox')).toBe(sandbox);
  });
});

const CHART = `import matplotlib.pyplot as plot
plot.plot([1, 2, 3], [4, 5, 9])
plot.title("Sales")
plot.show()
print("drawn")`;
