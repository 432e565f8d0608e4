/** Wire shapes: the service, its transports, authentication, errors. */
import type { Rules } from './requirement.ts';

export const wireService: Rules = {
  'WIRE-UP-01': '`sandhaven up` runs in the foreground and its process is the service.',
  'WIRE-UP-02': 'It prints `ready http://…` on standard output once it serves.',
  'WIRE-UP-03': 'Every flag is also an environment variable: --ssh-listen is SANDHAVEN_SSH_LISTEN.',
  'WIRE-UP-04': '--listen defaults to 127.0.0.1:7420.',
  'WIRE-UP-05': '--preview-domain defaults to localhost, --ssh-listen to 127.0.0.1:7422.',
  'WIRE-UP-06': '--warm-pool 0 turns the warm pool off.',
  'WIRE-UP-07': 'Several services with different data directories run on one host.',
  'WIRE-UP-08': 'With the base image on the machine, a new data directory is ready within seconds.',

  'WIRE-HTTP-01':
    'POST /v1/tools/<identifier> takes the parameters as a JSON object and answers the result as JSON.',
  'WIRE-HTTP-02':
    'GET /v1/tools lists name, title, description, input_schema, output_schema and annotations of each tool.',
  'WIRE-HTTP-03': 'GET /openapi.json describes all of it as OpenAPI 3.1.',
  'WIRE-HTTP-04': 'Accept: text/event-stream answers progress events, then one result or error event.',
  'WIRE-HTTP-05': 'A parameter of type json is a JSON object, not text.',
  'WIRE-HTTP-06':
    'Keys are snake_case; times are RFC 3339 in UTC; sizes are bytes unless the name says otherwise.',
  'WIRE-HTTP-07': 'A JSON request body over 24 MiB is refused with too_large.',
  'WIRE-HTTP-08': 'A client that goes away cancels its foreground command or query.',
  'WIRE-HTTP-09': 'A client that goes away never cancels a lifecycle operation.',
  'WIRE-HTTP-10':
    'Idempotency-Key on CreateSandbox and CreateSnapshot: a retry gives the first answer and makes nothing.',

  'WIRE-BYTES-01': 'PUT /v1/sandboxes/{sandbox}/files?path= writes the body’s bytes as they are.',
  'WIRE-BYTES-02': 'GET /v1/sandboxes/{sandbox}/files?path= gives the file’s bytes as they are.',
  'WIRE-BYTES-03': 'GET honours Range.',
  'WIRE-BYTES-04': 'PUT honours mode and create_parents as query parameters.',
  'WIRE-BYTES-05':
    'A file’s content over 16 MiB in a result is refused with too_large, naming the byte route.',

  'WIRE-MCP-01': 'MCP is served on stdio and as Streamable HTTP at /mcp.',
  'WIRE-MCP-02': 'A tool’s MCP name is its identifier with _ for the dot.',
  'WIRE-MCP-03': 'The dotted name is accepted too.',
  'WIRE-MCP-04': 'structuredContent holds the result.',
  'WIRE-MCP-05': 'content is a short text; a large payload is not in it a second time.',
  'WIRE-MCP-06': 'Charts also come as image content.',
  'WIRE-MCP-07': 'Every tool has an outputSchema and the four annotations.',
  'WIRE-MCP-08': 'Long work sends progress notifications.',
  'WIRE-MCP-09': 'Cancellation is honoured.',
  'WIRE-MCP-10': 'An error is isError: true with the problem object as structuredContent.error and as text.',

  'WIRE-CLI-01':
    '`sandhaven call <identifier> --parameter value` calls any tool; --json prints the plain result.',
  'WIRE-CLI-02': 'The CLI prints the problem of a failed call and exits with the status of its code.',
  'WIRE-CLI-03': 'Clients read SANDBOX_API_KEY and SANDBOX_API_URL.',
  'WIRE-CLI-04': 'The CLI has short verbs for people beside `call`.',

  'WIRE-SDK-01': 'A typed client is generated from the catalogue.',
  'WIRE-CATALOG-01': 'One definition of a tool feeds every transport, the documentation and the tests.',

  'WIRE-AUTH-01': 'Authorization: Bearer <key> authenticates.',
  'WIRE-AUTH-02': 'X-API-Key: <key> authenticates.',
  'WIRE-AUTH-03':
    'Without a key only /healthz, /readyz, previews and /auth/*/callback answer; all else is 401.',
  'WIRE-AUTH-04': 'A key that is not valid is 401 unauthenticated.',

  'WIRE-ARGS-01': 'An unknown parameter is refused, and the refusal names it.',
  'WIRE-ARGS-02':
    'A number out of range is refused before anything happens, naming parameter, rule and value.',
  'WIRE-ARGS-03': 'A wrong enum value is refused before anything happens, naming parameter, rule and value.',
  'WIRE-ARGS-04':
    'A value of the wrong type is refused before anything happens, naming parameter, rule and value.',
  'WIRE-ARGS-05': 'A missing required parameter is refused, and the refusal names it.',
  'WIRE-ARGS-06': 'null for an optional parameter is the same as leaving it out.',

  'WIRE-ERR-01': 'HTTP errors are application/problem+json.',
  'WIRE-ERR-02':
    'A problem has type, title, status, code, detail, retryable and request_id; hint says what to do next.',
  'WIRE-ERR-03': 'invalid_argument: status 400, exit 2.',
  'WIRE-ERR-04':
    'ambiguous_sandbox: status 400, exit 2; when sandbox is omitted and there is none or several.',
  'WIRE-ERR-05': 'ambiguous_sandbox lists up to ten names in detail.',
  'WIRE-ERR-06': 'unauthenticated: status 401, exit 3.',
  'WIRE-ERR-07': 'authorization_required: status 401, exit 3; authorization_url says where to authorize.',
  'WIRE-ERR-08': 'permission_denied: status 403, exit 3.',
  'WIRE-ERR-09': 'not_found: status 404, exit 4; resource names the kind.',
  'WIRE-ERR-10': 'already_exists: status 409, exit 5.',
  'WIRE-ERR-11': 'invalid_state: status 409, exit 5.',
  'WIRE-ERR-12': 'failed_precondition: status 412, exit 5.',
  'WIRE-ERR-13': 'too_large: status 413, exit 6.',
  'WIRE-ERR-14': 'resource_exhausted: status 429, exit 6; it says what is free.',
  'WIRE-ERR-15': 'timeout: status 504, exit 7.',
  'WIRE-ERR-16': 'unavailable: status 503, exit 7, retryable true.',
  'WIRE-ERR-17':
    'internal: status 500, exit 1; no stack, path or secret leaks; request_id finds it in the log.',
};
