/** A machine on which the service is installed and runs as systemd starts it. */
import { arch } from 'node:os';
import { dirname, join } from 'node:path';
import type { Suite } from '../../../setup/debian/machines/recipe.ts';
import { defaultCacheDir } from '../../../src/runtime/images/cache-dir.ts';
import type { Traces } from '../../support/host.ts';
import { type Machine, startMachine } from './machine.ts';

export interface Installed {
  machine: Machine;
  /** Where the service is reached from this host, for `call` and `must` of test/support/service.ts. */
  service: { url: string; apiKey: string };
  /** Runs the service's own command inside; fails when it does. */
  sandhaven(argv: string): Promise<string>;
  /** Resolves when the service answers; fails when its unit gives up. */
  ready(): Promise<void>;
  /** Ids of sandboxes by what the machine holds of them, read from its kernel. */
  traces(): Promise<Traces>;
}

export const DATA_DIR = '/srv/data';
const places = `SANDHAVEN_DATA_DIR=${DATA_DIR} SANDHAVEN_CACHE_DIR=/srv/cache`;
/** Without a warm pool each sandbox has an owner. */
const NO_POOL = 'SANDHAVEN_WARM_POOL=0';
const environment = `SANDHAVEN_CONFIG= ${places}`;
const unit = join(import.meta.dirname, '../../../deploy/debian/sandhaven/sandhaven.service');
const dropIn = '/etc/systemd/system/sandhaven.service.d/test.conf';
const NODE = `/srv/checkout/node_modules/node-linux-${arch()}/bin/node`;
/** Loading the service's sources takes an emulated processor a minute of its own, and a busy host ten. */
const READY_TIMEOUT_S = 900;

/**
 * Settings beside those of the package's unit: the service is the checkout, and its data lie on the second disk with the
 * images, which it links to.
 */
const settings = `[Unit]
RequiresMountsFor=/srv

[Service]
ExecStart=
ExecStart=/srv/checkout/bin/sandhaven up --prove
ExecStartPost=
Environment=${environment} ${NO_POOL}
# An emulated processor is no reason to replace the service.
TimeoutStartSec=1800
WatchdogSec=600
`;

/** @param payload Its disk, as `inject('machinePayload')` gives it. */
export async function startInstalled(payload: string, suite: Suite = 'trixie'): Promise<Installed> {
  const machine = await startMachine(suite, payload);
  return install(machine).catch(async (error: unknown) => {
    await machine.close();
    throw error;
  });
}

/**
 * Installs the package of the service by apt. The base image's stays out: the service takes the one on the second disk, where its
 * data are too.
 */
export async function installPackage(machine: Machine): Promise<Installed> {
  const commands = commandsOn(machine, '/usr/bin/sandhaven');
  await putSettings(
    machine,
    `[Unit]\nRequiresMountsFor=/srv\n\n[Service]\nEnvironment=${places} ${NO_POOL}\n`,
  );
  const apt = 'DEBIAN_FRONTEND=noninteractive apt-get --quiet --yes -o Dpkg::Use-Pty=0';
  await machine.must(`${apt} install /srv/packages/sandhaven_*.deb`);
  await commands.ready();
  return installedOn(machine, commands);
}

async function install(machine: Machine): Promise<Installed> {
  const commands = commandsOn(machine, '/srv/checkout/bin/sandhaven');
  // The fetched runc names its libraries by their paths on this host.
  const cache = defaultCacheDir();
  await machine.must(`mkdir -p ${cache} && rmdir ${cache} && ln -s /srv/cache ${cache}`);
  await machine.copyIn(unit, '/etc/systemd/system/sandhaven.service');
  await putSettings(machine, settings);
  await machine.must('systemctl daemon-reload && systemctl enable --quiet sandhaven');
  await machine.must('systemctl start --no-block sandhaven');
  await commands.ready();
  return installedOn(machine, commands);
}

type Commands = Pick<Installed, 'sandhaven' | 'ready' | 'traces'>;

async function putSettings(machine: Machine, text: string): Promise<void> {
  await machine.must(`mkdir -p ${dirname(dropIn)} && cat > ${dropIn}`, { input: text });
}

async function installedOn(machine: Machine, commands: Commands): Promise<Installed> {
  const apiKey = (await machine.must(`cat ${DATA_DIR}/api-key`)).trim();
  return { machine, service: { url: `http://127.0.0.1:${machine.servicePort}`, apiKey }, ...commands };
}

function commandsOn(machine: Machine, program: string): Commands {
  return {
    sandhaven: (argv) => machine.must(`${environment} ${program} ${argv}`),
    async ready() {
      const wait = `for i in $(seq ${READY_TIMEOUT_S}); do
        curl --silent --fail --output /dev/null http://127.0.0.1:7420/readyz && exit 0
        systemctl is-failed --quiet sandhaven && break
        sleep 1
      done
      systemctl status sandhaven --no-pager; journalctl -u sandhaven -n 50 --no-pager; exit 1`;
      await machine.must(wait, { timeoutMs: 3 * READY_TIMEOUT_S * 1_000 });
    },
    async traces() {
      const code = `import { tracesOf } from '/srv/checkout/test/support/host.ts'; console.log(JSON.stringify(await tracesOf('${DATA_DIR}')))`;
      return JSON.parse(await machine.must(`${NODE} --input-type=module`, { input: code }));
    },
  };
}
