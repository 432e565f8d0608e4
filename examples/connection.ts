/** Where the service is and the key that opens it: what `make up` has printed, in two environment variables. */

export const url = process.env['SANDBOX_API_URL'] ?? 'http://127.0.0.1:7420';
export const headers = { Authorization: `Bearer ${process.env['SANDBOX_API_KEY'] ?? ''}` };

/** Only the groups of tools that the example's agent needs: fewer for its model to read. */
export const mcpUrl = (...toolsets: string[]) => new URL(`/mcp?toolsets=${toolsets.join(',')}`, url);
