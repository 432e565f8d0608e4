/** A process to be killed: it does one thing to one sandbox, saying `go` when it begins and `done` at the end. */
import { readFileSync, writeFileSync } from 'node:fs';
import { runtimeOver } from './host.ts';
import type { Orders } from './orders.ts';

const [ordersPath] = process.argv.slice(2);
if (ordersPath === undefined) throw new Error('usage: victim.ts ORDERS');
const { instance, action, machine, generation, record } = JSON.parse(
  readFileSync(ordersPath, 'utf8'),
) as Orders;
const runtime = runtimeOver({
  ...instance,
  installationKey: Buffer.from(instance.installationKeyHex, 'hex'),
});
await runtime.init();
writeFileSync(1, 'go\n');
switch (action) {
  case 'start':
    await runtime.start(machine, generation);
    break;
  case 'stop':
    await runtime.stop(machine.id, 500);
    break;
  case 'archive':
    await runtime.archive(machine.id, generation);
    break;
  case 'restore':
    if (!record) throw new Error('no record');
    await runtime.restore(machine, generation, record);
    break;
  case 'grow':
    await runtime.growDisk(machine.id, machine.resources.disk + 40);
    break;
  case 'destroy':
    await runtime.destroy(machine.id);
    break;
}
writeFileSync(1, 'done\n');
await runtime.close();
