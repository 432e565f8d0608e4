/** Names, files, logs and previews that would be scripts, in the real page: none of them runs. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { launchBrowser } from './support/browsers.ts';
import { type Walker, walkerOf } from './support/walker.ts';

/** What would call `canary`, which every page of the walk has, as an element, a link, or a script. */
const ELEMENT = '<img src=x onerror=canary()><script>canary()</script><svg onload=canary()>';
const NAME = '<img src=x onerror=canary()>';
const LINK = 'javascript:canary()';

describe('hostile texts', () => {
  let browser: Browser;
  let walker: Walker;
  let sandbox: string;

  beforeAll(async () => {
    browser = await launchBrowser();
    walker = await walkerOf(browser, inject('sharedService'), 'Careful Person');
    const size = { cpu: 1, memory_gb: 1, disk_gb: 1 };
    const texts = { labels: { x: NAME }, env_vars: { X: ELEMENT } };
    ({ id: sandbox } = await walker.sdk.createSandbox({ ...size, ...texts, name: 'careful' }));
    for (const [path, text] of files) {
      await walker.sdk.writeFile({ sandbox, path, content: text.replace('ORIGIN', walker.origin) });
    }
  });

  afterAll(async () => {
    await walker?.close();
    await browser?.close();
  });

  const go = (tab = '') => walker.go(`/sandboxes/${sandbox}${tab}`);

  it('has a canary that would be noticed', async () => {
    await walker.page.evaluate('canary()');
    await expect.poll(() => walker.faults.splice(0)).toEqual(['a foreign script has run']);
  });

  it('are no names of sandboxes, and text as labels and variables', async () => {
    await expect(walker.sdk.createSandbox({ name: NAME })).rejects.toMatchObject({
      code: 'invalid_argument',
    });
    await walker.go('/sandboxes');
    await walker.page.getByText(NAME).first().waitFor();
    await go();
    await walker.page.getByText(ELEMENT).first().waitFor();
    await isClean(walker);
  });

  it.each(files)('are text or a picture as the file %s', async (path) => {
    await go(`/files?file=${encodeURIComponent(`/workspace/${path}`)}`);
    await walker.page.getByRole('heading', { level: 2 }).first().waitFor();
    await shown(walker.page, path);
    await isClean(walker);
  });

  it('are text in a log, in code that runs, and in commits', async () => {
    const { session_id } = await walker.sdk.createSession({ sandbox });
    const command = `printf '%s\\n' '${ELEMENT}' '\u001b]8;;${LINK}\u0007here\u001b]8;;\u0007'`;
    await walker.sdk.runSessionCommand({ sandbox, session_id, command });
    await go('/sessions');
    await walker.page.getByRole('button', { name: 'printf' }).click();
    await walker.page.getByRole('region', { name: 'Output of the command' }).getByText(ELEMENT).waitFor();
    await walker.sdk.processes.start(sandbox, command);
    await go('/processes');
    await walker.page.getByRole('button', { name: 'printf' }).click();
    await walker.page.getByRole('region', { name: 'Output of the process' }).getByText(ELEMENT).waitFor();
    const git = 'git init -q && git -c user.name="$X" -c user.email=a@example.org commit -q --allow-empty';
    await walker.sdk.runCommand({ sandbox, command: `${git} -m '${ELEMENT}'` });
    await go('/git');
    await walker.page.getByText(ELEMENT).first().waitFor();
    await isClean(walker);
  });

  it('reach nothing of the page from a preview, which is a site of its own', async () => {
    const command = 'cd preview && (nohup python3 -m http.server 8124 >/dev/null 2>&1 &)';
    await walker.sdk.runCommand({ sandbox, command });
    const ports = async () => (await walker.sdk.listPorts({ sandbox })).ports.map(({ port }) => port);
    await expect.poll(ports).toContain(8124);
    await go('/access');
    const opening = walker.context.waitForEvent('page');
    await walker.click('Open port 8124 in a new tab');
    const site = await opening;
    await expect.poll(() => site.title()).toBe('the service answered 0');
    expect(await site.evaluate('document.cookie')).toBe('');
    await site.close();
    await isClean(walker);
  });
});

/** The preview asks the service as the user who looks at it, as far as a browser lets it. */
const PREVIEW = `<title>asking</title><script>
  const service = 'ORIGIN';
  fetch(service + '/v1/sign-in', { credentials: 'include' })
    .then((answer) => answer.status, () => 0)
    .then((status) => { document.title = 'the service answered ' + status; });
</script>`;

const files: [path: string, content: string][] = [
  [`${NAME}.txt`, ELEMENT],
  ['page.html', ELEMENT],
  [
    'picture.svg',
    `<svg xmlns="http://www.w3.org/2000/svg" onload="canary()"><script>canary()</script></svg>`,
  ],
  ['table.csv', `${NAME},b\n"${LINK}",${NAME}\n`],
  ['README.md', `# ${ELEMENT}\n\n[link](${LINK})\n\n![image](${LINK})\n\n\`${ELEMENT}\`\n\n${ELEMENT}\n`],
  ['work.ipynb', notebook()],
  ['preview/index.html', PREVIEW],
];

/** Hostile text in its Markdown, its code and its output, and HTML that wants to be shown. */
function notebook(): string {
  const outputs = [
    { output_type: 'display_data', metadata: {}, data: { 'text/html': ELEMENT } },
    { output_type: 'stream', name: 'stdout', text: [ELEMENT] },
  ];
  const cells = [
    { cell_type: 'markdown', metadata: {}, source: [ELEMENT] },
    { cell_type: 'code', metadata: {}, execution_count: 1, source: [ELEMENT], outputs },
  ];
  return JSON.stringify({ nbformat: 4, nbformat_minor: 5, metadata: {}, cells });
}

async function shown(page: Page, path: string): Promise<void> {
  const preview = page.getByRole('region', { name: /^Preview of/ });
  if (path.endsWith('.svg')) await preview.waitFor();
  else if (/\.(csv|md|ipynb)$/.test(path)) await preview.getByText('canary()').first().waitFor();
  else await page.locator('.cm-content').waitFor();
}

/** Nothing has run, and no link of the page leads to a script. */
async function isClean({ page, faults }: Walker): Promise<void> {
  expect(await page.locator('a[href^="javascript:" i], main script, main img[onerror]').count()).toBe(0);
  expect(faults).toEqual([]);
}
