/**
 * Java inside believes servers that the sandbox's authority has signed, by the keystore that it reads, in both of its forms.
 * The program is this host's `keytool`, which asks servers for lists as any program in Java does.
 */
import { execFileSync, spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFileSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ScratchSandbox, startScratchSandbox } from '../scratch-sandbox.ts';
import { certificate, earlier, HOST, type OwnServer, startOwnServer } from './own-server.ts';

/** Where many images have their Java. */
const HOME = '/opt/java/openjdk';
const KEYSTORE = `${HOME}/lib/security/cacerts`;
/** Of Debian, for all installations. */
const COMMON = '/etc/ssl/certs/java/cacerts';
const DEBIANS_PROGRAM = '/usr/share/ca-certificates-java/ca-certificates-java.jar';
const UNPROTECTED =
  '-J-Dkeystore.pkcs12.certProtectionAlgorithm=NONE -J-Dkeystore.pkcs12.macAlgorithm=NONE -deststoretype PKCS12';

let server: OwnServer;
let sandbox: ScratchSandbox;
const asked: string[] = [];
let asks = 0;

beforeAll(async () => {
  server = await startOwnServer((request, response) => {
    asked.push(request.url ?? '');
    response.end();
  });
  sandbox = await startScratchSandbox();
  await sandbox.sh(`echo '127.0.0.1 ${HOST}' >> /etc/hosts`);
  await putJava();
  await java(`keytool -importkeystore -srckeystore ${KEYSTORE} -srcstorepass changeit -noprompt \\
    -destkeystore /root/jks -deststorepass changeit -deststoretype JKS`);
  await java(`keytool ${UNPROTECTED} -importkeystore -srckeystore /root/jks -srcstorepass changeit -noprompt \\
    -destkeystore /root/pkcs12 -deststorepass changeit`);
}, 120_000);

afterAll(async () => {
  await sandbox?.[Symbol.asyncDispose]();
  server?.close();
});

/** Copies the host's into the sandbox, without what a program does not need. */
async function putJava(): Promise<void> {
  const home = dirname(dirname(realpathSync(execFileSync('which', ['keytool']).toString().trim())));
  const without = ['docs', 'include', 'jmods', 'legal', 'lib/src.zip', 'man'].map(
    (name) => `--exclude=./${name}`,
  );
  const tar = spawn('tar', ['-C', home, ...without, '-c', '--dereference', '.'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const put = (path: string, content: Buffer | typeof tar.stdout) =>
    sandbox.agent.write(sandbox.id, { path, content, createParents: true });
  await put('/root/java.tar', tar.stdout);
  await put(DEBIANS_PROGRAM, readFileSync(DEBIANS_PROGRAM));
  await java(`mkdir -p ${HOME} && tar -C ${HOME} -xf /root/java.tar && rm /root/java.tar`);
}

/** A program of a second is over before what its threads compile and collect is of use. */
const BRIEF = '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC';

async function java(command: string): Promise<string> {
  const env = `PATH=${HOME}/bin:$PATH JAVA_TOOL_OPTIONS='${BRIEF}'`;
  const { output } = await sandbox.sh(`export ${env}; ${command}`, { timeoutMs: 60_000 });
  return output;
}

/** Asks the server, which hears of it only from who believes it. */
async function ask(): Promise<{ heard: boolean; output: string }> {
  asks += 1;
  const path = `/list-${asks}`;
  const output = await java(`keytool -printcrl -file ${server.url}${path}`);
  return { heard: asked.includes(path), output };
}

const certificatesIn = async (keystore: string): Promise<number> =>
  Number(
    await java(
      `keytool -list -keystore ${keystore} -storepass changeit 2>/dev/null | grep -c trustedCertEntry`,
    ),
  );

async function timesInKeystore(...certificates: string[]): Promise<number[]> {
  const counts = `import sys
keystore = open('${KEYSTORE}', 'rb').read()
print([keystore.count(bytes.fromhex(one)) for one in sys.argv[1:]])`;
  const inHex = certificates.map((pem) => new X509Certificate(pem).raw.toString('hex'));
  const { stdout } = await sandbox.sh(`python3 -c "${counts}" ${inHex.join(' ')}`);
  return JSON.parse(stdout);
}

describe.each(['jks', 'pkcs12'])('a keystore of the form %s', (form) => {
  beforeEach(async () => {
    await sandbox.sh(`rm -rf /etc/sandhaven && cp /root/${form} ${KEYSTORE} && chmod 444 ${KEYSTORE}`);
  });

  it('makes Java believe, which did not before, and loses the authority of another sandbox, which a snapshot had', async () => {
    const before = await ask();
    expect(before).toEqual({ heard: false, output: expect.stringContaining('PKIX path building failed') });
    await sandbox.agent.trust(sandbox.id, earlier);
    expect(await timesInKeystore(earlier, certificate)).toEqual([1, 0]);
    await sandbox.agent.trust(sandbox.id, certificate);
    expect(await timesInKeystore(earlier, certificate)).toEqual([0, 1]);
    expect((await ask()).heard).toBe(true);
  });

  it('keeps its other certificates, its mode and its owner, and is written once', async () => {
    await sandbox.agent.trust(sandbox.id, certificate);
    const others = await certificatesIn(`/root/${form}`);
    expect(others).toBeGreaterThan(100);
    expect(await certificatesIn(KEYSTORE)).toBe(others + 1);
    const stat = () => sandbox.sh(`stat -c '%a %U %i %y' ${KEYSTORE}`);
    const { output } = await stat();
    expect(output).toMatch(/^444 root /);
    await sandbox.agent.trust(sandbox.id, certificate);
    expect((await stat()).output).toBe(output);
  });

  it('may be changed by keytool afterwards', async () => {
    await sandbox.agent.trust(sandbox.id, earlier);
    await java(`chmod 644 ${KEYSTORE}; cat > /root/own.pem <<'EOF'\n${certificate}EOF
      keytool -importcert -alias own -file /root/own.pem -keystore ${KEYSTORE} -storepass changeit -noprompt`);
    expect(await timesInKeystore(earlier, certificate)).toEqual([1, 1]);
    await sandbox.agent.trust(sandbox.id, certificate);
    expect(await timesInKeystore(earlier, certificate)).toEqual([0, 1]);
    expect((await ask()).heard).toBe(true);
  });

  it('stays as it is under another password', async () => {
    const type = form === 'jks' ? 'JKS' : 'PKCS12';
    await java(`rm -f ${KEYSTORE}; keytool -importkeystore -srckeystore /root/jks -srcstorepass changeit -noprompt \\
      -destkeystore ${KEYSTORE} -deststorepass another-one -deststoretype ${type}`);
    const sum = () => sandbox.sh(`sha256sum ${KEYSTORE}`);
    const { output } = await sum();
    await sandbox.agent.trust(sandbox.id, certificate);
    expect((await sum()).output).toBe(output);
  });
});

it('a keystore that many installations of Java share is reached through their links, and by itself', async () => {
  await sandbox.sh(`mkdir -p ${dirname(COMMON)} && cp /root/jks ${COMMON} && ln -sf ${COMMON} ${KEYSTORE}`);
  await sandbox.agent.trust(sandbox.id, certificate);
  expect((await ask()).heard).toBe(true);
  expect((await sandbox.sh(`readlink ${KEYSTORE}`)).output).toBe(`${COMMON}\n`);
});

it('a keystore that Debian makes later has the authority, too', async () => {
  await sandbox.agent.trust(sandbox.id, certificate);
  await sandbox.sh(`rm -rf ${COMMON}; mkdir -p ${dirname(COMMON)}; ln -sf ${COMMON} ${KEYSTORE}`);
  // As the package's own script does, for links that lead to these folders.
  await java(`for link in $(find /etc/ssl/certs -type l -name '*.pem'); do
      case $(readlink $link) in /usr/share/ca-certificates*|/usr/local/share/ca-certificates*) echo +$link;; esac
    done | java -jar ${DEBIANS_PROGRAM} -storepass changeit`);
  expect((await ask()).heard).toBe(true);
});

it.each([
  ['a pipe', `mkfifo ${KEYSTORE}`],
  ['a device', `mknod ${KEYSTORE} c 1 5`],
  ['a link to the agent’s memory', `ln -s /proc/1/mem ${KEYSTORE}`],
  ['a file without an end', `truncate -s 1T ${KEYSTORE}`],
  ['a keystore that is cut', `head -c 100000 /root/jks > ${KEYSTORE}`],
])('%s in place of a keystore stays, and the rest works', async (_, make) => {
  await sandbox.sh(`rm -rf /etc/sandhaven ${KEYSTORE}; ${make}`);
  const kind = async () => (await sandbox.sh(`stat -c '%F %s %N' ${KEYSTORE}`)).output;
  const before = await kind();
  await sandbox.agent.trust(sandbox.id, certificate);
  expect(await kind()).toBe(before);
  expect((await sandbox.sh('cat /etc/sandhaven/authority.pem')).stdout).toBe(certificate);
});
