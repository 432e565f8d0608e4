/** The changelog and the copyright file of a package. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { productionPackages } from '../../images/production-packages.ts';
import type { Processor } from '../../processors/processor.ts';
import type { About } from './manual.ts';

export const MAINTAINER = 'Sandhaven maintainers <sandhaven@lists.sandhaven.org>';
const APACHE = `License: Apache-2.0
 On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.`;

export function changelog(name: string, { version, epoch }: About): string {
  const [day, date, month, year, time] = new Date(epoch * 1000).toUTCString().replace(',', '').split(' ');
  return `${name} (${version}) unstable; urgency=medium

  * Version ${version}; /usr/share/doc/sandhaven/NEWS.md.gz has what changed.

 -- ${MAINTAINER}  ${day}, ${date} ${month} ${year} ${time} +0000
`;
}

/** Names each npm package with its licence, whose text lies beside its code. */
export async function copyright(home: string, { node }: Processor): Promise<string> {
  const packages = await Promise.all(
    (await productionPackages(home)).map(async (path) => stanza(path, await manifest(join(home, path)))),
  );
  const licences = [...new Set(packages.map(({ licence }) => licence))].filter((one) => one !== 'Apache-2.0');
  return `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Sandhaven

Files: *
Copyright: 2026 the Sandhaven authors
License: Apache-2.0

Files: usr/lib/sandhaven/${node}
Copyright: Node.js contributors
License: MIT
Comment: The binary of the Node.js project, with the libraries that it contains.

Files: usr/lib/sandhaven/runc/runc
Copyright: the Open Container Initiative contributors
License: Apache-2.0
Comment: From Debian's package runc, unchanged but for the path of its libraries.

Files: usr/lib/sandhaven/runc/libc.so.6 usr/lib/sandhaven/runc/ld-linux-*
Copyright: Free Software Foundation, Inc. and contributors
License: LGPL-2.1+
Comment: From Debian's package libc6; its source is Debian's glibc.

Files: usr/lib/sandhaven/runc/libseccomp.so.2
Copyright: the libseccomp authors
License: LGPL-2.1
Comment: From Debian's package libseccomp2; its source is Debian's libseccomp.

Files: usr/lib/sandhaven/packages/dist/*.whl
Copyright: the authors of each package
License: various
Comment: Packages of PyPI for users of the service, with their licences inside.

Files: usr/lib/sandhaven/packages/dist/sandhaven-*
Copyright: 2026 the Sandhaven authors
License: Apache-2.0
Comment: The command line contains npm packages, with their licences inside.

${packages.map(({ text }) => text).join('\n')}
${APACHE}

License: LGPL-2.1+
 On Debian systems the text is in /usr/share/common-licenses/LGPL-2.1.

License: various
 The licence of each package is in it.

License: LGPL-2.1
 On Debian systems the text is in /usr/share/common-licenses/LGPL-2.1.

${licences.map((name) => `License: ${name}\n The text lies beside the code that it is for.\n`).join('\n')}`;
}

interface Manifest {
  license?: string;
  author?: string | { name?: string };
}

async function manifest(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
}

function stanza(path: string, { license = 'MIT', author }: Manifest): { text: string; licence: string } {
  const holder = (typeof author === 'string' ? author : author?.name)?.replace(/\s+/g, ' ').trim();
  const licence = license.replace(/[()]/g, '').replaceAll(' OR ', ' or ').replaceAll(' AND ', ' and ');
  const text = `Files: usr/lib/sandhaven/${path}/*\nCopyright: ${holder || 'its authors'}\nLicense: ${licence}\n`;
  return { text, licence };
}

export const baseImageCopyright = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Sandhaven

Files: *
Copyright: 2026 the Sandhaven authors
License: Apache-2.0

Files: usr/share/sandhaven/base-image/rootfs.tar.zst
Copyright: the authors of each package
License: various
Comment: Packages of Debian, npm and PyPI, with their licences inside. One program of ours is linked with
 crates of swc, which images/base/typescript/Cargo.lock of our source lists.

${APACHE}

License: various
 The licence of each package is in usr/share/doc of the archive, or beside its code.
`;
