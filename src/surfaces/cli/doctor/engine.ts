/** Checks the programs and the image that machines are made with, and the GPUs that they can get. */
import { access, constants } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { DoctorFacts } from '../../../control/ports/doctor-facts.ts';
import type { Check, Finding } from './check.ts';

const NFT = '/usr/sbin/nft';

/** Search path of the engine's helpers. */
const PATH = ['/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/** Each with its Debian package. */
const programs = {
  nft: 'nftables',
  ip: 'iproute2',
  unshare: 'util-linux',
  mke2fs: 'e2fsprogs',
  e2fsck: 'e2fsprogs',
  resize2fs: 'e2fsprogs',
  tar: 'tar',
  zstd: 'zstd',
  skopeo: 'skopeo',
  cp: 'coreutils',
  du: 'coreutils',
};

export function engineChecks(facts: DoctorFacts, allowVulnerableRunc: boolean): Check[] {
  return [
    { name: 'machine runtime', neededByUp: true, run: () => machineRuntime(facts) },
    { name: 'runc', run: () => runcCheck(facts, allowVulnerableRunc) },
    { name: 'nftables', neededByUp: true, run: () => nftables(facts) },
    { name: 'network rules', run: () => networkRules(facts) },
    { name: 'links', neededByUp: true, run: () => links(facts) },
    { name: 'programs', neededByUp: true, run: helperPrograms },
    { name: 'agent', isBuilt: true, neededByUp: true, run: () => builtPrograms(facts.builtPrograms) },
    { name: 'base image', isBuilt: true, run: () => baseImage(facts) },
  ];
}

/** Reports what starts machines, and why. */
export async function machineRuntime({
  machineRuntime,
}: Pick<DoctorFacts, 'machineRuntime'>): Promise<Finding> {
  try {
    const { kind, why } = await machineRuntime();
    return { status: 'ok', found: `${kind}: ${why}` };
  } catch (error) {
    return {
      status: 'fail',
      found: error instanceof Error ? error.message : String(error),
      advice: 'Use --machine-runtime runc, or auto.',
    };
  }
}

/** @param output Output of `runc --version`; null when it does not run. */
export function runc(
  output: string | null,
  { runcPath, judgeRunc }: Pick<DoctorFacts, 'runcPath' | 'judgeRunc'>,
  allowVulnerable: boolean,
): Finding {
  const verdict = output === null ? null : judgeRunc(output);
  if (!verdict) {
    return { status: 'fail', found: `${runcPath} is missing, or is not runc`, advice: "Run 'make setup'." };
  }
  const found = `${verdict.version} (${runcPath})`;
  if (!verdict.vulnerable) return { status: 'ok', found };
  return {
    status: allowVulnerable ? 'warn' : 'fail',
    found: `${found}: CVE-2025-31133, CVE-2025-52565 and CVE-2025-52881 let code out of a sandbox`,
    advice: "Run 'make setup': it fetches a safe one for the service alone. 1.2.8, 1.3.3 and later are safe.",
  };
}

async function runcCheck(facts: DoctorFacts, allowVulnerable: boolean): Promise<Finding> {
  if (await isUnused(facts)) return { status: 'ok', found: 'not used: machines are started directly' };
  return runc(await facts.tryProgram(facts.runcPath, ['--version']), facts, allowVulnerable);
}

async function isUnused({ machineRuntime }: DoctorFacts): Promise<boolean> {
  return machineRuntime().then(
    ({ kind }) => kind === 'direct',
    () => false,
  );
}

/** Loads a service's ruleset in a network namespace that ends with the attempt. */
export async function nftables({
  tryProgram,
  tryRules,
}: Pick<DoctorFacts, 'tryProgram' | 'tryRules'>): Promise<Finding> {
  const version = await tryProgram(NFT, ['--version']);
  if (version === null)
    return { status: 'fail', found: 'nft is missing', advice: 'apt-get install nftables' };
  const refusal = await tryRules();
  if (refusal === null) return { status: 'ok', found: firstLine(version) };
  return {
    status: 'fail',
    found: `${firstLine(version)}, but the kernel does not take the rules: ${firstLine(refusal)}`,
    advice:
      'The kernel needs nf_tables (modprobe nf_tables nft_chain_nat nft_masq nft_ct nft_fib_inet nft_limit), and this ' +
      'process CAP_NET_ADMIN and CAP_SYS_ADMIN.',
  };
}

/** Loads a ruleset as for machines with network rules: without it they reach nothing, and open ones are as ever. */
export async function networkRules({
  tryNetworkRules,
}: Pick<DoctorFacts, 'tryNetworkRules'>): Promise<Finding> {
  const refusal = await tryNetworkRules();
  if (refusal === null) return { status: 'ok', found: 'the kernel takes them' };
  return {
    status: 'warn',
    found: `the kernel does not take them: ${firstLine(refusal)}`,
    advice:
      'A sandbox with network rules would reach nothing. The kernel needs nft_socket besides what nftables needs above (modprobe ' +
      'nft_socket); without it only the networks open and none work.',
  };
}

/** Makes a pair of links, as for a machine's network, in a network namespace that ends with the attempt. */
export async function links({ tryProgram }: Pick<DoctorFacts, 'tryProgram'>): Promise<Finding> {
  const pair = ['link', 'add', 'sandhaven0', 'type', 'veth', 'peer', 'name', 'sandhaven1'];
  if ((await tryProgram('unshare', ['--net', 'ip', ...pair])) !== null)
    return { status: 'ok', found: 'veth' };
  return {
    status: 'fail',
    found: 'no pair of network links can be made',
    advice: 'The kernel needs veth (modprobe veth), and this process CAP_NET_ADMIN and CAP_SYS_ADMIN.',
  };
}

async function helperPrograms(): Promise<Finding> {
  const missing: [string, string][] = [];
  for (const [program, debianPackage] of Object.entries(programs)) {
    const there = await Promise.all(PATH.map((folder) => isExecutable(join(folder, program))));
    if (!there.includes(true)) missing.push([program, debianPackage]);
  }
  if (missing.length === 0) return { status: 'ok', found: Object.keys(programs).join(', ') };
  return {
    status: 'fail',
    found: `missing: ${missing.map(([program]) => program).join(', ')}`,
    advice: `apt-get install ${[...new Set(missing.map(([, name]) => name))].join(' ')} (or 'make setup')`,
  };
}

async function builtPrograms(paths: string[]): Promise<Finding> {
  const there = await Promise.all(paths.map(isExecutable));
  const missing = paths.filter((_, index) => !there[index]).map((path) => basename(path));
  if (missing.length === 0) return { status: 'ok', found: paths.map((path) => basename(path)).join(', ') };
  return { status: 'fail', found: `not built: ${missing.join(', ')}`, advice: "Run 'make build'." };
}

async function baseImage({ readBaseImage }: DoctorFacts): Promise<Finding> {
  const image = await readBaseImage();
  if (image) {
    return { status: 'ok', found: `${image.digest.slice(0, 12)}, ${Math.round(image.sizeBytes / 1e6)} MB` };
  }
  return {
    status: 'fail',
    found: 'not on this machine',
    advice:
      "Run 'make image' in a checkout, or install the package sandhaven-base-image; sandboxes without an image of their own need it.",
  };
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? '';
}

/** Further problems on a host with many GPUs add nothing. */
const PROBLEMS_SHOWN = 3;

/** Checks the GPUs that sandboxes can get. */
export function gpuCheck(facts: Pick<DoctorFacts, 'examineGpus'>): Check {
  return { name: 'gpus', run: async () => gpus(await facts.examineGpus()) };
}

export function gpus({
  kind,
  names,
  held,
  problems,
  leftOut,
}: Awaited<ReturnType<DoctorFacts['examineGpus']>>): Finding {
  const there = names.length === 0 ? `none of ${kind}` : `${names.length} of ${kind}: ${names.join(', ')}`;
  const inUse = held === 0 ? '' : `; ${held} in use`;
  const without = leftOut.length === 0 ? '' : `; left out of their specification: ${leftOut.join(', ')}`;
  const found = `${there}${inUse}${without}`;
  if (problems.length === 0) return { status: 'ok', found };
  const shown = problems.slice(0, PROBLEMS_SHOWN).join('; ');
  const more = problems.length > PROBLEMS_SHOWN ? `; and ${problems.length - PROBLEMS_SHOWN} more` : '';
  return {
    status: 'warn',
    found: `${found} (${shown}${more})`,
    advice:
      'Write the specification anew, as root (nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml); docs/gpus.md.',
  };
}
