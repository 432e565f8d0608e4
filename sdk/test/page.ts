/** What a page does with the SDK, as source text: it runs in a browser, and in a realm with a browser's globals. */

/** An expression that is a function of `Sandhaven` and the service's url, and resolves with what it saw. */
export const pageScript = `(async ({ Sandhaven, isSandhavenError }, url) => {
  // The key is added on the way, by the page's own server.
  const client = new Sandhaven({ apiKey: null, url });
  const created = await client.createSandbox({ name: 'from a page', cpu: 1, memory_gb: 1, disk_gb: 1 });
  try {
    const sandbox = created.name;
    const ran = await client.runCommand({ sandbox, command: 'echo hello; sleep 0.1; echo wörld' });
    const stream = new Blob(['streamed ', 'bytes']).stream();
    await client.files.upload(sandbox, 'a.txt', stream);
    const reader = (await client.files.download(sandbox, 'a.txt', { start: 9 })).body.getReader();
    const part = new TextDecoder().decode((await reader.read()).value);
    const names = [];
    for await (const path of client.iterate.findFiles({ sandbox, pattern: '*.txt', max_items: 1 })) names.push(path);
    const abort = new AbortController();
    const stopped = client.runCommand({ sandbox, command: 'sleep 60' }, { signal: abort.signal });
    setTimeout(() => abort.abort(new Error('enough')), 50);
    const reason = await stopped.then(() => 'ended', (error) => error.message);
    const code = await client
      .getSandbox({ sandbox: 'nobody' })
      .catch((error) => (isSandhavenError(error) ? error.code : String(error)));
    return { output: ran.output, part, names, reason, code };
  } finally {
    await client.deleteSandbox({ sandbox: created.id });
  }
})`;

export const pageSees = {
  output: 'hello\nwörld\n',
  part: 'bytes',
  names: ['a.txt'],
  reason: 'enough',
  code: 'not_found',
};
