/** `make cluster`: runs a cluster in the foreground until Ctrl-C, and shows how to look around in it. */
import { once } from 'node:events';
import { join } from 'node:path';
import { kubernetesFolder } from '../../setup/cluster/folders.ts';
import { startCluster } from './cluster.ts';
import { pushBusybox } from './images.ts';

// Before the start, so that an early Ctrl-C leaves nothing behind either.
const ended = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
const started = performance.now();
const cluster = await startCluster({ nodes: 2 });
const image = pushBusybox(cluster.registry);
console.info(`ready in ${((performance.now() - started) / 1000).toFixed(1)} s; Ctrl-C stops it

export KUBECONFIG=${cluster.kubeconfig}
export PATH=$PATH:${kubernetesFolder}

kubectl get nodes
kubectl run try --image=${image} --restart=Never -- sleep 1000
skopeo copy --dest-tls-verify=false docker://IMAGE docker://${cluster.registry}/NAME:TAG

logs   ${join(cluster.kubeconfig, '../../logs')}`);
for (const { name, room, address } of cluster.nodes) {
  console.info(`${name}  ${address}, nsenter --target ${room.pid} --all`);
}
await ended;
await cluster.stop();
