/**
 * Files of `make test` with a test over ten seconds, and the reason why it is not deep: each shows a rule that nothing quicker
 * shows. The summary of a run prints it beside the time, and says where there is none.
 */
const kills = 'kills a process again and again, and each time waits for the next one to start';
const bound = 'waits for a bound of ten seconds or more, which a real socket or kernel measures';
const wholeDisk = 'fills a real disk';
const manyCalls = 'runs every tool, each by a program that starts';
const realProgram = 'installs and starts a real program';

export const slow: Readonly<Record<string, string>> = {
  'test/archives/service.test.ts': 'moves whole disks to a real server of S3, and waits for it to be away',
  'test/audit/crash.test.ts': kills,
  'test/chaos/kill.test.ts': kills,
  'test/compat/daytona/clients.test.ts': 'carries out some fifty calls with each of six clients',
  'test/compat/e2b/clients.test.ts':
    'carries out some thirty calls with each of two clients, some of which wait for a time limit',
  'test/documentdb/saving-broken.test.ts': 'saves 200 MB, more than the service may hold',
  'test/egress/fairness.test.ts': bound,
  'test/egress/life.test.ts': 'waits for the two minutes that an answer of DNS lasts at least',
  'test/gateways/preview.test.ts': bound,
  'test/gateways/ssh/login.test.ts': bound,
  'test/gateways/ssh/odd-clients.test.ts': 'waits for the minute after which a silent client counts as gone',
  'test/hostile/hostile.test.ts': 'times one user beside attacks that have to last',
  'test/hostile/largest-answers.test.ts': 'has the largest answers there are on their way at once',
  'test/network/dns-forwarder.test.ts': bound,
  'test/network/secrets/provider.test.ts': 'reads the memory of all processes',
  'test/programs/debian/dozen.test.ts': realProgram,
  'test/restart/kept-sockets.test.ts': kills,
  'test/runtime/disk/disk-guard.test.ts': wholeDisk,
  'test/runtime/oci.test.ts': wholeDisk,
  'test/system/every-transport.test.ts': manyCalls,
  'test/system/sleep.test.ts':
    'lets a sandbox fall asleep 300 times, and looks at what the next service leaves asleep',
  'test/system/following/terminals.test.ts': 'waits for the minute after which a sandbox counts as idle',
  'test/system/networks.test.ts': 'waits for the host to count traffic',
  'test/tls/listener.test.ts': bound,
  'test/tls/reverse-proxy.test.ts': realProgram,
  'test/tls/service.test.ts': 'sends the largest bodies over TLS',
  'test/web/screens.test.ts': 'examines every screen in a browser',
  'test/webhooks/sender.test.ts': bound,
};
