/** The text of --help. */

export const help = `Usage: sandhaven-mcp [--url …] [--api-key-file …] [--toolsets …] [--team …]

Serves MCP on standard input and output, and passes every message on to a Sandhaven service. It ends when its
client closes standard input.

  --url …            address of the service (SANDBOX_API_URL, else SANDHAVEN_URL)
  --api-key-file …   file that holds the API key (SANDHAVEN_API_KEY_FILE); the key itself is taken from
                     SANDBOX_API_KEY, else SANDHAVEN_API_KEY, and never from the command line
  --toolsets …       only these groups of tools, separated by commas (SANDHAVEN_TOOLSETS)
  --team …           team to act for, by name or id (SANDHAVEN_TEAM)
  --version
  --help

Exit status: 0 the client has ended it; 2 a flag or the address is wrong; 3 the key is missing or not valid;
7 the service cannot be reached. Once the service has answered, a failure ends the call alone.
`;
