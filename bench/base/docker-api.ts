/** Calls the Engine API's operations for comparison: the cost of Docker without its command line. */
import { createEndpoint, type Endpoint, send } from './http.ts';

export class DockerApi {
  readonly #engine: Endpoint;

  constructor(socketPath: string) {
    this.#engine = createEndpoint({ socketPath }, { host: 'docker' });
  }

  async ping(): Promise<boolean> {
    return (await send(this.#engine, 'GET', '/_ping')).body.toString() === 'OK';
  }

  version(): Promise<Record<string, unknown>> {
    return this.#json('GET', '/version');
  }

  info(): Promise<Record<string, unknown>> {
    return this.#json('GET', '/info');
  }

  /** Works like `docker run -d`. Resolves with the container's id. */
  async run(image: string, command: string[]): Promise<string> {
    const { Id: id } = await this.#json('POST', '/containers/create', { Image: image, Cmd: command });
    await send(this.#engine, 'POST', `/containers/${id}/start`);
    return String(id);
  }

  /** Works like `docker exec`: resolves with its output (still framed), rejects when its exit status is not 0. */
  async exec(container: string, command: string[]): Promise<Buffer> {
    const { Id: id } = await this.#json('POST', `/containers/${container}/exec`, {
      AttachStdout: true,
      AttachStderr: true,
      Cmd: command,
    });
    const started = await send(this.#engine, 'POST', `/exec/${id}/start`, {
      body: toJson({ Detach: false }),
    });
    const { ExitCode: status } = await this.#json('GET', `/exec/${id}/json`);
    if (status !== 0) throw new Error(`${command.join(' ')} in a container: exit status ${status}`);
    return started.body;
  }

  /** Unpacks a tar into a folder of the container, as `docker cp` does. */
  async putArchive(container: string, folder: string, tar: Buffer): Promise<void> {
    const path = `/containers/${container}/archive?path=${encodeURIComponent(folder)}`;
    await send(this.#engine, 'PUT', path, { body: tar, contentType: 'application/x-tar' });
  }

  /** Resolves with the size of the received tar. */
  async getArchive(container: string, path: string): Promise<number> {
    const query = `/containers/${container}/archive?path=${encodeURIComponent(path)}`;
    return (await send(this.#engine, 'GET', query, { discard: true })).bytes;
  }

  async remove(container: string): Promise<void> {
    await send(this.#engine, 'DELETE', `/containers/${container}?force=true`);
  }

  async #json(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
    const reply = await send(this.#engine, method, path, {
      body: body === undefined ? undefined : toJson(body),
    });
    return JSON.parse(reply.body.toString());
  }
}

function toJson(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}
