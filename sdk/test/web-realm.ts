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
const modules = new Map<string, Promise<vm.SourceTextModule>>();

/** Each file once, also when two others ask for it at the same time. */
function load(file: string): Promise<vm.SourceTextModule> {
  const loading =
    modules.get(file) ??
    readFile(join(folder, file), 'utf8').then(
      (source) => new vm.SourceTextModule(source, { context: realm, identifier: file }),
    );
  modules.set(file, loading);
  return loading;
}

const index = await load('index.js');
await index.link((specifier) => load(specifier));
await index.evaluate();
const script = vm.runInContext(pageScript, realm) as (sdk: object, url: string) => Promise<unknown>;
process.stdout.write(JSON.stringify(await script(index.namespace, url)));
