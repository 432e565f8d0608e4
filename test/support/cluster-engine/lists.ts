/** Which tests run on which engine. The two lists of `test/system` are all of it (`lists.test.ts`). */

/** On one machine with SQLite, and on Kubernetes with PostgreSQL, S3 and two replicas behind fronts. */
export const onBothEngines = [
  'test/gateways/access.test.ts',
  'test/gateways/preview.test.ts',
  'test/gateways/ssh/ends.test.ts',
  'test/gateways/ssh/forwards.test.ts',
  'test/gateways/ssh/login.test.ts',
  'test/gateways/ssh/programs.test.ts',
  'test/system/audit.test.ts',
  'test/system/contract.test.ts',
  'test/system/deadline.test.ts',
  'test/system/ended.test.ts',
  'test/system/every-transport.test.ts',
  'test/system/files.test.ts',
  'test/system/git/git-configured.test.ts',
  'test/system/git/git-hostile.test.ts',
  'test/system/git/git-inside.test.ts',
  'test/system/git/git-local.test.ts',
  'test/system/git/git.test.ts',
  'test/system/git/provider.test.ts',
  'test/system/images/images.test.ts',
  'test/system/images/snapshots.test.ts',
  'test/system/images/users.test.ts',
  'test/system/lifecycle.test.ts',
  'test/system/processes.test.ts',
  'test/system/public-names.test.ts',
  'test/system/public-ports.test.ts',
  'test/system/quotas.test.ts',
  'test/system/sandbox-token.test.ts',
  'test/system/search.test.ts',
  'test/system/following/changes.test.ts',
  'test/system/following/file-changes.test.ts',
  'test/system/following/output.test.ts',
  'test/system/following/sessions.test.ts',
  'test/system/following/whole-output.test.ts',
  'test/system/sessions.test.ts',
  'test/system/two-users.test.ts',
];

/** Tests of the system that are about one machine, each with the reason. */
export const onOneMachine: Record<string, string> = {
  'test/system/archived-size.test.ts': 'measures the files of archives on the disk of the machine',
  'test/system/auto.test.ts': 'moves the clock of a service in the process of the test',
  'test/system/bad-luck.test.ts':
    'starves a machine that the nodes and the control plane of a test cluster share',
  'test/system/builds.test.ts': 'captures disks, which the engine of a cluster cannot',
  'test/system/canary.test.ts': 'reads processes, memory and disks of the machine',
  'test/system/contexts.test.ts': 'exhausts the memory, at which a cluster ends all of a container together',
  'test/system/copied-data.test.ts': 'copies a data directory to another place',
  'test/system/disk-store.test.ts': 'looks at the volume that the engine makes on the machine',
  'test/system/forks.test.ts': 'looks at captured disks on the disk of the machine',
  'test/system/following/terminal-page.test.ts':
    'opens the page of the service in a browser, which the fronts of replicas need no second time',
  'test/system/following/terminals.test.ts':
    'reads the memory of the service, and starts another process of it',
  'test/system/git/silent-names.test.ts': 'gives the process of the service name servers that do not answer',
  'test/system/images/base-image.test.ts':
    'installs packages from the internet, which Pods of the test cluster do not reach',
  'test/system/images/gpus.test.ts': 'describes GPUs of the machine by CDI',
  'test/system/images/registries.test.ts': 'looks at the credentials of programs that pull on the machine',
  'test/system/images/snapshot-layers.test.ts':
    'counts layers and unpacked images on the disk of the machine',
  'test/system/networks.test.ts': 'sets networks, which the engine of a cluster has not',
  'test/system/people/delete-user.test.ts': 'kills the process of the service',
  'test/system/readiness.test.ts': 'removes a cgroup of the engine',
  'test/system/refused-start.test.ts': 'starts on machines that lack something',
  'test/system/side-by-side.test.ts': 'runs two services on one machine',
  'test/system/stuck-agent.test.ts': 'stops a process of the machine',
  'test/system/usage-history.test.ts': 'reads the log of the kernel of the machine',
  'test/system/sleep.test.ts': 'freezes machines, which the engine of a cluster cannot',
  'test/system/sign-in/provider.test.ts':
    'reads the arguments, the environment and the log of the process of the service, at an address of its own',
};
