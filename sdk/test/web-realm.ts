/**
 * Runs the page's script in a realm that has the globals of the web and none of Node's.
 * Usage: node --experimental-vm-modules web-realm.ts <folder of the built SDK> <url>
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import vm from 'node:vm';
import { pageScript } from './page.ts';

const [, , folder = '', url = ''] = process.argv;

const web = {
  ...{ AbortController, AbortSignal, Blob, Headers, ReadableStream, Request, Response },
  ...{ TextDecoder, TextEncoder, URL, URLSearchParams, crypto, fetch, setTimeout, clearTimeout, console },
};
const realm = vm.createContext({ ...web });
const modules = new Map<string, vm.SourceTextModule>();

async function load(file: string): Promise<vm.SourceTextModule> {
  const known = modules.get(file);
  if (known) return known;
  const source = await readFile(join(folder, file), 'utf8');
  const module = new vm.SourceTextModule(source, { context: realm, identifier: file });
  modules.set(file, module);
  return module;
}

const index = await load('index.js');
await index.link((specifier) => load(specifier));
await index.evaluate();
const script = vm.runInContext(pageScript, realm) as (sdk: object, url: string) => Promise<unknown>;
process.stdout.write(JSON.stringify(await script(index.namespace, url)));
