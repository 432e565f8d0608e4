/** What docs/docker.md claims of a container, checked on a host with cgroup v1 and on one with v2. */
import { expect, it } from 'vitest';
import { type Container, FEWER, IMAGE, READY, startContainer } from './container.ts';

/** A public address that the test gives to its host. */
const OUTSIDE = '11.22.33.44';
const NODE = '/usr/lib/sandhaven/node_modules/node-linux-*/bin/node';
const TIMEOUT = { timeout: READY.timeout * 2 };
const PORTS = '--publish 7420:7420 --publish 7421:7421 --publish 7422:7422';

/** @param host Open until after the tests; the first of them starts the container that the next ones use. */
export function claims(host: () => Parameters<typeof startContainer>[0]): void {
  let container: Container;
  const inSandbox = (command: string) => container.tries(`exec demo -- sh -c '${command}'`);
  const stateOf = async (name: string) =>
    JSON.parse(await container.sandhaven(`call Sandbox.GetSandbox --sandbox ${name} --json`));

  it('says in its log that it works, and how to use it', TIMEOUT, async () => {
    const volume = '--volume sandhaven:/var/lib/sandhaven';
    container = await startContainer(host(), 'sandhaven', `--privileged ${PORTS} ${volume}`);
    const log = await container.ready();
    expect(log).toMatch(/^It works: sandbox created in \d+ ms, Python 3\.\d+\.\d+ run in \d+ ms/m);
    expect(log).toMatch(/^Page {5}http:\/\/sandhaven\.localhost:7420\/#ticket=\w+ /m);
    expect(log).toContain('API key  in /var/lib/sandhaven/data/api-key\n');
    expect(log).toContain('"url": "http://127.0.0.1:7420/mcp"');
    expect(await container.sandhaven('prove')).toMatch(/^It works: /);
    const { checks } = JSON.parse((await container.tries('doctor --json')).output) as {
      checks: { name: string; status: string }[];
    };
    expect(checks.filter(({ status }) => status === 'fail')).toEqual([]);
  });

  it('answers at localhost with its key, and under no other name', TIMEOUT, async () => {
    const key = (await container.docker('exec sandhaven cat /var/lib/sandhaven/data/api-key')).trim();
    const get = (url: string) =>
      host().run(`curl --silent --output /dev/null --write-out '%{http_code}' --header 'Authorization: Bearer ${key}' \
        --header 'content-type: application/json' --data '{}' ${url}/v1/tools/Sandbox.ListSandboxes`);
    expect((await get('http://localhost:7420')).output).toBe('200');
    expect((await get('--header Host:elsewhere.example http://localhost:7420')).output).toBe('421');
  });

  it('makes sandboxes on loop devices that are younger than the container', TIMEOUT, async () => {
    await container.docker("exec sandhaven sh -c 'rm /dev/loop[0-9]*'");
    await container.sandhaven('create --name demo --memory-gb 1');
    expect((await inSandbox('echo made')).output).toBe('made\n');
    expect(await container.docker("exec sandhaven sh -c 'ls /dev/loop[0-9]*'")).toMatch(/^\/dev\/loop\d+$/m);
  });

  it('limits the memory of a sandbox', TIMEOUT, async () => {
    const { output } = await inSandbox('head -c 2G /dev/zero | tail; echo $?');
    expect(output).not.toMatch(/^0$/m);
    expect((await inSandbox('echo alive')).output).toBe('alive\n');
  });

  it('lets sandboxes out, and not to its own network', TIMEOUT, async () => {
    await host().run(`ip address add ${OUTSIDE}/32 dev lo`);
    const serve = `require("http").createServer((_, answer) => answer.end("reached")).listen(80)`;
    const entry = `--entrypoint /bin/sh ${IMAGE} -c 'exec ${NODE} -e "$0"' '${serve}'`;
    await container.docker(`run --detach --name outside --network host ${entry}`);
    const reach = (address: string) => inSandbox(`curl --silent --max-time 60 http://${address}`);
    await expect.poll(async () => (await reach(OUTSIDE)).output, READY).toBe('reached');
    const gateway = (
      await container.docker("inspect --format '{{.NetworkSettings.Networks.bridge.Gateway}}' sandhaven")
    ).trim();
    const local = await host().run(`curl --silent --max-time 60 http://${gateway}`);
    expect(local.output).toBe('reached');
    expect((await reach(gateway)).output).not.toContain('reached');
  });

  it.each([
    ['stop', 'stop --time 600 sandhaven'],
    ['kill', 'kill sandhaven'],
  ])('loses no file at docker %s', TIMEOUT, async (name, command) => {
    await inSandbox(`echo whole > /workspace/${name}`);
    await container.docker(command);
    await container.docker('start sandhaven');
    await container.ready();
    expect(await stateOf('demo')).toMatchObject({
      state: 'stopped',
      state_reason: 'Its machine ended while the service was away.',
    });
    await container.sandhaven('start demo');
    expect((await inSandbox(`cat /workspace/${name}`)).output).toBe('whole\n');
  });

  it('lets programs save their work at docker stop', TIMEOUT, async () => {
    const program =
      'trap "echo saved > /workspace/work; exit" TERM; echo > /workspace/runs; while :; do sleep 0.2; done';
    await inSandbox(
      `echo "$0" > /tmp/program; setsid -f sh /tmp/program >/dev/null 2>&1`.replace('$0', escaped(program)),
    );
    await expect.poll(async () => (await inSandbox('ls /workspace/runs')).status, READY).toBe(0);
    await container.docker('stop --time 600 sandhaven');
    const exit = "inspect --format '{{.State.ExitCode}}' sandhaven";
    expect(await container.docker(exit)).toBe('0\n');
    await container.docker('start sandhaven');
    await container.ready();
    await container.sandhaven('start demo');
    expect((await inSandbox('cat /workspace/work')).output).toBe('saved\n');
  });

  it('starts in a new container of the same volume, even without room for a proof', TIMEOUT, async () => {
    await container.docker('rm --force sandhaven');
    const full = '--env SANDHAVEN_QUOTA_SANDBOXES=1 --volume sandhaven:/var/lib/sandhaven';
    container = await startContainer(host(), 'sandhaven', `--privileged ${PORTS} ${full}`);
    expect(await container.ready()).toMatch(
      /^The proof failed at CreateSandbox: .*The service runs all the same\.$/m,
    );
    await container.sandhaven('start demo');
    expect((await inSandbox('cat /workspace/stop')).output).toBe('whole\n');
  });

  it('proves itself with fewer privileges', TIMEOUT, async () => {
    await container.docker('rm --force sandhaven');
    const volume = '--volume fewer:/var/lib/sandhaven';
    container = await startContainer(host(), 'fewer', `${FEWER} ${PORTS} ${volume}`);
    expect(await container.ready()).toMatch(/^It works: sandbox created in \d+ ms/m);
    await container.docker('exec fewer sandhaven create --name demo --memory-gb 1');
    expect(await container.docker('exec fewer sandhaven exec demo -- echo made')).toBe('made\n');
  });

  it('leaves no loop device behind', TIMEOUT, async () => {
    await container.docker('rm --force fewer outside');
    const used = 'cat /sys/block/loop*/loop/backing_file 2>/dev/null | grep /var/lib/sandhaven/data/';
    await expect.poll(async () => (await host().run(used)).output, READY).toBe('');
  });
}

/** For the inside of double quotes, in single ones. */
function escaped(program: string): string {
  return program.replaceAll('"', '\\"');
}
