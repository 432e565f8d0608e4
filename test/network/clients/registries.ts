/** The registries' look-alikes: one package of each kind, in the form of its registry, below a folder for each host. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { tarOf, zipOf } from './archives.ts';

type Put = (path: string, content: string | Buffer) => void;

const digest = (algorithm: string, content: Buffer, encoding: 'hex' | 'base64' = 'hex') =>
  createHash(algorithm).update(content).digest(encoding);

/** Writes all of them. */
export function makeRegistries(folder: string): void {
  const put: Put = (path, content) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  };
  putPython(put);
  putNode(put);
  putRust(put);
  putGo(put);
  putDebian(put);
  putPage(put);
  putGit(folder);
}

function putPython(put: Put): void {
  const info = 'demo_package-1.0.0.dist-info';
  const wheel = zipOf({
    'demo_package/__init__.py': 'answer = 42\n',
    [`${info}/METADATA`]: 'Metadata-Version: 2.1\nName: demo-package\nVersion: 1.0.0\n',
    [`${info}/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    [`${info}/RECORD`]: `demo_package/__init__.py,,\n${info}/METADATA,,\n${info}/WHEEL,,\n${info}/RECORD,,\n`,
  });
  const name = 'demo_package-1.0.0-py3-none-any.whl';
  const url = `https://files.pythonhosted.org/packages/${name}#sha256=${digest('sha256', wheel)}`;
  put(
    'pypi.org/simple/demo-package/index.html',
    `<!DOCTYPE html><html><body><a href="${url}">${name}</a></body></html>`,
  );
  put(`files.pythonhosted.org/packages/${name}`, wheel);
}

function putNode(put: Put): void {
  const about = { name: 'demo-package', version: '1.0.0', main: 'index.js' };
  const archive = tarOf({
    'package/package.json': JSON.stringify(about),
    'package/index.js': 'module.exports = 42;\n',
  });
  const tarball = 'https://registry.npmjs.org/demo-package/-/demo-package-1.0.0.tgz';
  const dist = { tarball, integrity: `sha512-${digest('sha512', archive, 'base64')}` };
  const document = {
    name: about.name,
    'dist-tags': { latest: '1.0.0' },
    versions: { '1.0.0': { ...about, dist } },
  };
  put('registry.npmjs.org/demo-package/index.json', JSON.stringify(document));
  put('registry.npmjs.org/demo-package/-/demo-package-1.0.0.tgz', archive);
}

function putRust(put: Put): void {
  const crate = tarOf({
    'demo-package-1.0.0/Cargo.toml':
      '[package]\nname = "demo-package"\nversion = "1.0.0"\nedition = "2021"\n',
    'demo-package-1.0.0/src/lib.rs': 'pub const ANSWER: u8 = 42;\n',
  });
  const entry = {
    name: 'demo-package',
    vers: '1.0.0',
    deps: [],
    cksum: digest('sha256', crate),
    features: {},
    yanked: false,
  };
  put('index.crates.io/config.json', '{"dl":"https://static.crates.io/crates","api":"https://crates.io"}');
  put('index.crates.io/de/mo/demo-package', `${JSON.stringify(entry)}\n`);
  put('static.crates.io/crates/demo-package/1.0.0/download', crate);
}

function putGo(put: Put): void {
  const text = 'module example.com/demo\n\ngo 1.21\n';
  const below = 'proxy.golang.org/example.com/demo/@v';
  put(`${below}/list`, 'v1.0.0\n');
  put(`${below}/v1.0.0.info`, '{"Version":"v1.0.0","Time":"2026-01-01T00:00:00Z"}');
  put(`${below}/v1.0.0.mod`, text);
  put(
    `${below}/v1.0.0.zip`,
    zipOf({
      'example.com/demo@v1.0.0/go.mod': text,
      'example.com/demo@v1.0.0/demo.go': 'package demo\n\nconst Answer = 42\n',
    }),
  );
}

function putDebian(put: Put): void {
  const fields =
    'Package: demo-package\nVersion: 1.0.0\nArchitecture: all\nMaintainer: Test <test@example.org>\nDescription: test\n';
  const work = mkdtempSync(join(tmpdir(), 'sandhaven-deb-'));
  mkdirSync(join(work, 'root/DEBIAN'), { recursive: true });
  writeFileSync(join(work, 'root/DEBIAN/control'), fields);
  execFileSync('dpkg-deb', ['--build', '--root-owner-group', join(work, 'root'), join(work, 'demo.deb')], {
    stdio: 'pipe',
  });
  const deb = readFileSync(join(work, 'demo.deb'));
  rmSync(work, { recursive: true });
  const pool = 'pool/main/d/demo-package_1.0.0_all.deb';
  const listed = `${fields}Filename: ${pool}\nSize: ${deb.length}\nSHA256: ${digest('sha256', deb)}\n\n`;
  for (const [site, suite, text] of [
    ['deb.debian.org/debian', 'stable', listed],
    ['security.debian.org/debian-security', 'stable-security', ''],
  ] as const) {
    const sum = digest('sha256', Buffer.from(text));
    const release = `Origin: Debian\nSuite: ${suite}\nCodename: ${suite}\nDate: Thu, 01 Jan 2026 00:00:00 UTC\nArchitectures: amd64\nComponents: main\nSHA256:\n ${sum} ${text.length} main/binary-amd64/Packages\n`;
    put(`${site}/dists/${suite}/Release`, release);
    put(`${site}/dists/${suite}/main/binary-amd64/Packages`, text);
  }
  put(`deb.debian.org/debian/${pool}`, deb);
}

function putPage(put: Put): void {
  put(
    'page.example.org/index.html',
    `<!DOCTYPE html><p id="said">nothing</p><script src="https://cdn.example.org/app.js"></script>
     <script src="https://tracker.example.net/app.js"></script><img src="https://tracker.example.net/seen.png">`,
  );
  put('cdn.example.org/app.js', "document.getElementById('said').textContent = 'the script ran';");
  put('tracker.example.net/app.js', "document.getElementById('said').textContent = 'tracked';");
}

/** A bare repository of one commit, which takes pushes from everybody. */
function putGit(folder: string): void {
  const work = join(folder, 'git-work');
  const bare = join(folder, 'git/example/demo.git');
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.org', ...args], {
      stdio: 'pipe',
    });
  git('init', '--quiet', '--initial-branch=main', work);
  writeFileSync(join(work, 'README'), 'demo\n');
  git('-C', work, 'add', '--all');
  git('-C', work, 'commit', '--quiet', '--message=first');
  git('clone', '--quiet', '--bare', work, bare);
  git('-C', bare, 'config', 'http.receivepack', 'true');
}
