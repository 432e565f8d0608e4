/** Parts that most services use late or never: each loads its code, and the library behind it, with the first call. */
import type { PasskeyVerifier } from '../../control/ports/index.ts';
import type { McpEndpoint, McpEndpointDependencies } from '../../surfaces/mcp/endpoint.ts';

export function passkeyVerifierOnUse(): PasskeyVerifier {
  const load = async () => (await import('../../webauthn/verifier.ts')).createPasskeyVerifier();
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
  const load = async () => (await import('../../surfaces/mcp/endpoint.ts')).createMcpEndpoint(parts);
  return {
    async handle(request, response, client) {
      if (closed) return void response.destroy();
      endpoint ??= load().catch((error: unknown) => {
        // Without a file descriptor left, for one; the next request tries again.
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
