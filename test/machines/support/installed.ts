/** A machine on which the service is installed and runs as systemd starts it. */
import { arch } from 'node:os';
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
const NODE = `/srv/checkout/node_modules/node-linux-${arch()}/bin/node`;
const READY_TIMEOUT_S = 300;

/** The cache lies on the disk of the data directory, which links to images. Without a warm pool all that is there has an owner. */
const unit = `[Unit]
Description=Sandhaven
RequiresMountsFor=/srv
After=network-online.target nftables.service

[Service]
Type=exec
Environment=SANDHAVEN_DATA_DIR=${DATA_DIR} SANDHAVEN_WARM_POOL=0
ExecStart=/srv/checkout/bin/sandhaven up --prove
Restart=on-failure
KillMode=mixed
LimitNOFILE=1048576

[Install]
WantedBy=multi-user.target
`;

/** @param payload Its disk, as `inject('machinePayload')` gives it. */
export async function startInstalled(payload: string, suite: Suite = 'trixie'): Promise<Installed> {
  const machine = await startMachine(suite, payload);
  return install(machine).catch(async (error: unknown) => {
    await machine.close();
    throw error;
  });
}

export async function install(machine: Machine): Promise<Installed> {
  const commands = commandsOn(machine);
  const cache = defaultCacheDir();
  await machine.must(`mkdir -p ${cache} && rmdir ${cache} && ln -s /srv/cache ${cache}`);
  await machine.must('cat > /etc/systemd/system/sandhaven.service', { input: unit });
  await machine.must('systemctl daemon-reload && systemctl enable --quiet sandhaven');
  await machine.must('systemctl start --no-block sandhaven');
  await commands.ready();
  const apiKey = (await machine.must(`cat ${DATA_DIR}/api-key`)).trim();
  return { machine, service: { url: `http://127.0.0.1:${machine.servicePort}`, apiKey }, ...commands };
}

function commandsOn(machine: Machine): Pick<Installed, 'sandhaven' | 'ready' | 'traces'> {
  const environment = `SANDHAVEN_DATA_DIR=${DATA_DIR}`;
  return {
    sandhaven: (argv) => machine.must(`${environment} /srv/checkout/bin/sandhaven ${argv}`),
    async ready() {
      const wait = `for i in $(seq ${READY_TIMEOUT_S}); do
        curl --silent --fail --output /dev/null http://127.0.0.1:7420/readyz && exit 0
        systemctl is-failed --quiet sandhaven && break
        sleep 1
      done
      systemctl status sandhaven --no-pager; journalctl -u sandhaven -n 50 --no-pager; exit 1`;
      await machine.must(wait, { timeoutMs: 2 * READY_TIMEOUT_S * 1_000 });
    },
    async traces() {
      const code = `import { tracesOf } from '/srv/checkout/test/support/host.ts'; console.log(JSON.stringify(tracesOf('${DATA_DIR}')))`;
      return JSON.parse(await machine.must(`${NODE} --input-type=module`, { input: code }));
    },
  };
}
