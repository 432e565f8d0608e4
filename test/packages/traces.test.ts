/**
 * The removal of traces at a purge, over things of the kernel's own with the names that the engine gives them. Network and
 * mounts are in namespaces that end with the attempt; the control groups are this host's.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';

const execute = promisify(execFile);
const functions = join(import.meta.dirname, '../../deploy/debian/sandhaven/traces.sh');

/** Makes what an instance has, beside what another one has. */
const MAKE = `
mount -t tmpfs none /run
pinned=/run/sandhaven-$ID/slots/5/net
mkdir -p "\${pinned%/*}" /run/sandhaven/slots /run/sandhaven/uplinks/eth9
touch "$pinned"
mount --bind /proc/self/ns/net "$pinned"
ip link add "sh$ID-5" type veth peer name inside
ip link add shother0-5 type veth peer name other
ip link add eth9 type veth peer name outside
echo 1 > /proc/sys/net/ipv4/conf/eth9/forwarding
echo here > "/run/sandhaven/uplinks/eth9/$ID"
ip link set lo up
ip address add 10.213.0.255/32 dev lo
ip address add 10.213.1.1/32 dev lo
printf '{"instance":{"id":"%s"},"bootId":"b","purpose":"gateway"}' "$ID" > /run/sandhaven/slots/254
printf '{"instance":{"id":"%s"},"bootId":"b","purpose":"machine"}' "$ID" > /run/sandhaven/slots/5
nft add table inet "sandhaven_$ID"
nft add table inet sandhaven_other0
nft 'add table inet filter; add chain inet filter forward { type filter hook forward priority 0; }'
nft "add rule inet filter forward iifname \\"sh$ID-*\\" accept comment \\"sandhaven_$ID\\""
nft 'add rule inet filter forward iifname "lo" accept comment "mine"'
`;

const GROUPS = `
for top in /sys/fs/cgroup /sys/fs/cgroup/pids /sys/fs/cgroup/freezer; do
  [ -e "$top/cgroup.procs" ] || continue
  mkdir -p "$top/sandhaven-$ID/sandbox" "$top/sandhaven-$ID-helpers/boot"
done
sleep 1000 &
for group in /sys/fs/cgroup/sandhaven-$ID/sandbox /sys/fs/cgroup/*/sandhaven-$ID/sandbox; do
  [ ! -e "$group" ] || echo "$!" > "$group/cgroup.procs"
done
`;

const SHOW = `
echo "links: $(ip -oneline link | cut -d' ' -f2 | cut -d@ -f1 | tr -d : | sort | tr '\\n' ' ')"
echo "tables: $(nft list tables | tr '\\n' ' ')"
echo "rules: $(nft list ruleset | grep -o 'comment .*' | tr '\\n' ' ')"
echo "addresses: $(ip -oneline address show dev lo | grep -o '10[.0-9]*' | tr '\\n' ' ')"
echo "forwarding: $(cat /proc/sys/net/ipv4/conf/eth9/forwarding)"
echo "run: $(ls -d /run/sandhaven* 2>/dev/null | tr '\\n' ' ')"
echo "groups: $(find /sys/fs/cgroup -maxdepth 2 -name "sandhaven-$ID*" | tr '\\n' ' ')"
`;

let data: string;
let id: string;

beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'sandhaven-traces-'));
  id = `z${randomBytes(4).readUInt32LE().toString(36).padStart(5, '0').slice(-5)}`;
});

afterEach(async () => {
  await rm(data, { recursive: true });
});

it('takes all that is the instance’s, and nothing else', async () => {
  await writeFile(join(data, 'instance'), `${id}\n`);
  const shown = await inNamespaces(
    `${MAKE}${GROUPS}\n. ${functions}\nremove_traces ${data}\n${SHOW}\nwait "$!" || echo "process: $?"`,
  );
  expect(shown).toEqual([
    'links: eth9 lo other outside shother0-5 ',
    'tables: table inet sandhaven_other0 table inet filter ',
    'rules: comment "mine" ',
    'addresses: 10.213.0.255 ',
    'forwarding: 0',
    'run: ',
    'groups: ',
    'process: 137',
  ]);
});

it.each([
  ['', 'a directory without an id'],
  ['../etc\n', 'an id that is none'],
])('does nothing for %j: %s', async (text) => {
  await writeFile(join(data, 'instance'), text);
  const shown = await inNamespaces(`${MAKE}\n. ${functions}\nremove_traces ${data}\n${SHOW}`);
  expect(shown[0]).toBe(`links: eth9 inside lo other outside shother0-5 sh${id}-5 `);
  expect(shown[4]).toBe('forwarding: 1');
});

async function inNamespaces(script: string): Promise<string[]> {
  const argv = ['--net', '--mount', '--propagation', 'private', 'sh', '-euc', script];
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', ID: id };
  return (await execute('unshare', argv, { env })).stdout.trimEnd().split('\n');
}
