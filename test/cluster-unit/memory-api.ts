/** Objects of an API server in memory: names are taken once, and replaced by compare-and-set where a version is named. */
import type { Api } from '../../src/runtime/kubernetes/client/api.ts';
import { ApiFailure } from '../../src/runtime/kubernetes/client/failure.ts';
import type { KubeObject } from '../../src/runtime/kubernetes/client/objects.ts';

export interface MemoryApi extends Api {
  /** By path. */
  objects: Map<string, KubeObject>;
  /** Requests, such as `GET /api/v1/namespaces/default/pods/a`. */
  asked: string[];
}

export function memoryApi(): MemoryApi {
  const objects = new Map<string, KubeObject>();
  const asked: string[] = [];
  let version = 0;

  function found(verb: string, path: string): KubeObject {
    asked.push(`${verb} ${path}`);
    const object = objects.get(path);
    if (!object) throw new ApiFailure(404, 'NotFound', `${path} not found`);
    return object;
  }

  function keep<T>(path: string, body: KubeObject): T {
    const kept = { ...body, metadata: { ...body.metadata, resourceVersion: String(++version) } };
    objects.set(path, kept);
    return kept as T;
  }

  return {
    ...{ objects, asked, server: new URL('https://memory') },
    get: async <T>(path: string) => found('GET', path) as T,
    async list<T>(path: string, take: (items: T[]) => void) {
      take([...objects].filter(([key]) => key.startsWith(`${path}/`)).map(([, object]) => object as T));
      return String(version);
    },
    async create<T>(path: string, body: object) {
      const object = body as KubeObject;
      const own = `${path}/${object.metadata.name}`;
      asked.push(`POST ${own}`);
      if (objects.has(own)) throw new ApiFailure(409, 'AlreadyExists', `${own} already exists`);
      return keep<T>(own, object);
    },
    async replace<T>(path: string, body: object) {
      const object = body as KubeObject;
      const { resourceVersion } = object.metadata;
      const present = found('PUT', path);
      if (resourceVersion !== undefined && resourceVersion !== present.metadata.resourceVersion)
        throw new ApiFailure(409, 'Conflict', 'the object has been modified');
      return keep<T>(path, object);
    },
    patch: () => Promise.reject(new Error('no patches here')),
    async remove(path) {
      found('DELETE', path);
      objects.delete(path);
    },
    watch: () => Promise.reject(new Error('no watches here')),
    close() {},
  };
}
