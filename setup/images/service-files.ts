/**
 * The files of the service itself, for its OCI image and for its Debian package: sources, page, the packages that it gives to its
 * users, and npm packages.
 */
import { copyFile, cp, mkdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { productionPackages } from './production-packages.ts';

/** Files of npm packages that nothing reads at run time; Node takes no types away from sources below node_modules. */
const needless = /\.(?:[cm]?ts|map|md|markdown|html|flow|tsbuildinfo|test\.[cm]?js)$/i;
/** Their folders that nothing reads, and packages inside them, which have entries of their own. */
const needlessFolder =
  /(?:^|\/)(?:node_modules|\.[^/]+)$|^(?:tests?|__tests__|bench(?:marks?)?|examples?|docs?)$/;
const licence = /licen[cs]e|notice|copying/i;

export async function copyService(home: string, target: string): Promise<void> {
  await mkdir(target, { recursive: true });
  for (const name of ['package.json', 'LICENSE']) await copyFile(join(home, name), join(target, name));
  await cp(join(home, 'src'), join(target, 'src'), { recursive: true });
  for (const made of ['web/dist', 'packages/dist'])
    await cp(join(home, made), join(target, made), { recursive: true });
  for (const path of await productionPackages(home)) await copyPackage(join(home, path), join(target, path));
}

/** Leaves out what nothing reads at run time. */
export async function copyPackage(from: string, to: string): Promise<void> {
  await cp(from, to, {
    recursive: true,
    filter: (path) => {
      const inside = relative(from, path);
      return !needlessFolder.test(inside) && (licence.test(inside) || !needless.test(inside));
    },
  });
}
