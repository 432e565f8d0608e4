/** A layer with a suite of Debian's as its makers' images have it, and with what the scripts of `list.txt` use besides. */
import { bootstrapOf } from '../../../setup/debian/bootstrap.ts';
import { debianMirror, sourcesOf } from '../../../setup/debian/mirror.ts';
import { hostProcessor } from '../../../setup/processors/processor.ts';
import { put, run } from '../../images/registry/registry.ts';

const USED = 'build-essential,ca-certificates,curl,file,git,openssh-client,pkg-config,procps,python3';

/**
 * Returns what fills the folder of a layer.
 * @param packages Beside those of the smallest Debian, with commas between.
 */
export async function debianLayer(suite: string, packages = USED): Promise<(folder: string) => void> {
  const mirror = await debianMirror();
  if (!mirror) throw new Error('the machine’s apt names no Debian mirror (run apt-get update)');
  // A lagging mirror is harmless: packages are signed.
  const late = '[check-valid-until=no] ';
  const sources =
    suite === 'sid' ? [`deb ${late}${mirror.archiveUri} sid main`] : sourcesOf(mirror, suite, late);
  const [program, ...argv] = await bootstrapOf(hostProcessor);
  return (folder) => {
    const how = [
      '--variant=minbase',
      '--format=directory',
      ...(packages === '' ? [] : [`--include=${packages}`]),
    ];
    // As all that follows, it is in Debian's images for containers.
    const unsynced = '--dpkgopt=force-unsafe-io';
    run(program, [...argv, ...how, unsynced, suite, folder, ...sources]);
    put(folder, 'usr/sbin/policy-rc.d', '#!/bin/sh\nexit 101\n', 0o755);
    put(folder, 'etc/apt/apt.conf.d/docker-clean', 'APT::Keep-Downloaded-Packages "false";\n');
  };
}
