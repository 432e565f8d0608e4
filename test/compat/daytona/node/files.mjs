/** Files and folders; paths that are not absolute begin at the home of the sandbox's user. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { isBefore, rejection, step } from './steps.mjs';

const large = randomBytes(3 * 2 ** 20);

export const fileSteps = [
  step('files: makes folders with a mode', async ({ sandbox: { fs } }) => {
    await fs.createFolder('files', '755');
    await fs.createFolder('files/private', '700');
    await fs.createFolder('files/one/two', '755');
    const found = (await fs.listFiles('files')).find(({ name }) => name === 'private');
    assert.equal(found.isDir, true);
    assert.match(found.permissions, /^0?700$/);
  }),
  step('files: uploads one, which is the user’s, and downloads it', async ({ sandbox: { fs } }) => {
    await fs.uploadFile(Buffer.from('hello world\n'), 'files/hello.txt');
    assert.equal(String(await fs.downloadFile('/home/daytona/files/hello.txt')), 'hello world\n');
    const { name, size, isDir, owner, group, modTime } = await fs.getFileDetails('files/hello.txt');
    assert.deepEqual([name, size, isDir, owner, group], ['hello.txt', 12, false, 'daytona', 'daytona']);
    assert.ok(modTime);
  }),
  step('files: uploads many, and downloads many, one of which is missing', async ({ sandbox: { fs } }) => {
    const names = ['a.txt', 'b c.txt', 'ä".txt', 'new/folder/d.txt'].map((name) => `files/${name}`);
    await fs.uploadFiles(names.map((name) => ({ source: Buffer.from(`in ${name}`), destination: name })));
    const asked = [...names, 'files/missing.txt'];
    const downloaded = await fs.downloadFiles(asked.map((source) => ({ source })));
    assert.deepEqual(
      downloaded.map(({ source }) => source),
      asked,
    );
    assert.deepEqual(
      downloaded.slice(0, -1).map(({ result }) => String(result)),
      names.map((name) => `in ${name}`),
    );
    assert.ok(downloaded.at(-1).error);
  }),
  step('files: carries 3 MiB of bytes, and none at all', async ({ sandbox: { fs } }) => {
    await fs.uploadFiles([
      { source: large, destination: 'files/large' },
      { source: Buffer.alloc(0), destination: 'files/empty' },
    ]);
    assert.ok(large.equals(await fs.downloadFile('files/large')));
    assert.equal((await fs.downloadFile('files/empty')).length, 0);
  }),
  step('files: goes from a local file to a local file', async ({ sandbox: { fs } }) => {
    const folder = await mkdtemp(join(tmpdir(), 'compat-'));
    try {
      await writeFile(join(folder, 'up'), large);
      await fs.uploadFile(join(folder, 'up'), 'files/local');
      await fs.downloadFile('files/local', join(folder, 'down'));
      assert.ok(large.equals(await readFile(join(folder, 'down'))));
    } finally {
      await rm(folder, { recursive: true });
    }
  }),
  step(
    'files: streams up and down',
    async ({ sandbox: { fs } }) => {
      let sent = 0;
      const onProgress = ({ bytesSent }) => {
        sent = bytesSent;
      };
      await fs.uploadFileStream(Readable.from([large]), 'files/streamed', { onProgress });
      assert.equal(sent, large.length);
      assert.ok(large.equals(await buffer(await fs.downloadFileStream('files/streamed'))));
    },
    '0.192',
  ),
  step('files: lists a folder', async ({ sandbox: { fs } }) => {
    const names = (await fs.listFiles('files')).map(({ name }) => name);
    for (const name of ['hello.txt', 'a.txt', 'ä".txt', 'new', 'private'])
      assert.ok(names.includes(name), name);
    assert.ok(!names.includes('d.txt'));
  }),
  step(
    'files: lists folders below it',
    async ({ sandbox: { fs } }) => {
      const deep = await fs.listFiles('files', { depth: 3 });
      assert.ok(
        deep.some(({ name, path }) => name === 'd.txt' && path.endsWith('/new/folder/d.txt')),
        JSON.stringify(deep),
      );
    },
    '0.218',
  ),
  step('files: finds text, and names by a pattern', async ({ sandbox: { fs } }) => {
    const matches = await fs.findFiles('files', 'hello');
    assert.deepEqual(
      matches.map(({ file, line, content }) => [file.endsWith('files/hello.txt'), line, content.trim()]),
      [[true, 1, 'hello world']],
    );
    const { files } = await fs.searchFiles('files', '*.txt');
    assert.ok(files.some((file) => file.endsWith('files/hello.txt')) && files.length >= 4, files.join());
  }),
  step('files: replaces text', async ({ sandbox: { fs } }) => {
    const results = await fs.replaceInFiles(['files/hello.txt'], 'world', 'again');
    assert.deepEqual(
      results.map(({ file, success }) => [file.endsWith('files/hello.txt'), success]),
      [[true, true]],
    );
    assert.equal(String(await fs.downloadFile('files/hello.txt')), 'hello again\n');
  }),
  step('files: sets mode, owner and group', async ({ sandbox: { fs, process } }) => {
    await fs.setFilePermissions('files/a.txt', { mode: '640', owner: 'daytona', group: 'daytona' });
    const { result } = await process.executeCommand('stat -c "%a %U %G" files/a.txt');
    assert.equal(result.trim(), '640 daytona daytona');
    assert.match((await fs.getFileDetails('files/a.txt')).permissions, /^0?640$/);
  }),
  step('files: moves and deletes', async ({ sandbox: { fs } }) => {
    await fs.moveFiles('files/a.txt', 'files/moved.txt');
    await fs.deleteFile('files/moved.txt');
    const names = (await fs.listFiles('files')).map(({ name }) => name);
    assert.ok(!names.includes('a.txt') && !names.includes('moved.txt'));
    await rejection(fs.deleteFile('files/new'));
    await fs.deleteFile('files/new', true);
    assert.ok(!(await fs.listFiles('files')).some(({ name }) => name === 'new'));
  }),
  step('errors: a missing file has its class', async ({ sdk, version, sandbox: { fs } }) => {
    const ofDetails = await rejection(fs.getFileDetails('files/missing.txt'));
    const expected = sdk.DaytonaFileNotFoundError ?? sdk.DaytonaNotFoundError;
    assert.ok(ofDetails instanceof expected, `${ofDetails.name}: ${ofDetails.message}`);
    const ofDownload = await rejection(fs.downloadFile('files/missing.txt'));
    // Older generations give every failed download one class.
    const downloadClass = isBefore(version, '0.190') ? sdk.DaytonaError : expected;
    assert.ok(ofDownload instanceof downloadClass, `${ofDownload.name}: ${ofDownload.message}`);
  }),
];
