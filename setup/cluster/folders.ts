/** Names the versions of the test cluster's programs, and the folders of the cache that hold them. */
import { arch } from 'node:os';
import { join } from 'node:path';
import { defaultCacheDir } from '../../src/runtime/images/cache-dir.ts';

/** The last minor version that has been measured with cgroup v1, which 1.35 and later accept by a setting only. */
export const KUBERNETES = '1.36.3';

/** Debian's packages by suite. Raise the number when the list changes, or to fetch newer versions. */
export const DEBIAN = {
  revision: 1,
  suites: {
    trixie: ['etcd-server', 'busybox-static'],
    // The only suite with a containerd that gives Pods user namespaces (2.0 and later).
    sid: ['containerd', 'containernetworking-plugins'],
  },
};

export const clusterStore = join(defaultCacheDir(), 'cluster');

/** kube-apiserver, kube-controller-manager, kube-scheduler, kube-proxy, kubelet, kubectl, and pause. */
export const kubernetesFolder = join(clusterStore, `kubernetes-${KUBERNETES}-${arch()}`);

/** A root with etcd, busybox, containerd and the CNI plugins, as their packages unpack. */
export const debianFolder = join(clusterStore, `debian-${DEBIAN.revision}-${arch()}`);

/** A runc without known vulnerabilities, by setup/runc.ts; missing where the machine's own is sound. */
export const runcFolder = join(defaultCacheDir(), 'runc/current');
