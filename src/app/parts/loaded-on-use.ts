/**
 * Parts that most services use late or never: each loads its code, and the library behind it, with the first call, in several
 * turns of the event loop. A call after one that could not load it tries again: it may have lacked a file descriptor.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PasskeyVerifier } from '../../control/ports/index.ts';
import type { McpEndpoint, McpEndpointDependencies } from '../../surfaces/mcp/endpoint.ts';

export function passkeyVerifierOnUse(): PasskeyVerifier {
  let verifier: Promise<PasskeyVerifier> | undefined;
  const load = () => {
    verifier ??= import('../../webauthn/load.ts')
      .then(({ loadPasskeyVerifier }) => loadPasskeyVerifier())
      .catch((error: unknown) => {
        verifier = undefined;
        throw error;
      });
    return verifier;
  };
  return {
    askToAdd: async (...given) => (await load()).askToAdd(...given),
    added: async (...given) => (await load()).added(...given),
    askToSign: async (...given) => (await load()).askToSign(...given),
    signed: async (...given) => (await load()).signed(...given),
  };
}

export function mcpEndpointOnUse(parts: McpEndpointDependencies): McpEndpoint {
  let endpoint: Promise<McpEndpoint> | undefined;
  let closed = false;
  const load = async () => {
    // The SDK, which the endpoint needs, in a turn of its own.
    await import('@modelcontextprotocol/server');
    await nextTurn();
    return (await import('../../surfaces/mcp/endpoint.ts')).createMcpEndpoint(parts);
  };
  return {
    async handle(request, response, client) {
      if (closed) return void response.destroy();
      endpoint ??= load().catch((error: unknown) => {
        endpoint = undefined;
        throw error;
      });
      await (await endpoint).handle(request, response, client);
    },
    async close() {
      closed = true;
      await (await endpoint)?.close();
    },
  };
}
