/** Groups of tools that MCP and lists of tools show, with commas between. */
import { flag } from '../flag.ts';

export const toolsets = flag({
  name: 'toolsets',
  default: 'all',
  help: 'groups of tools that MCP clients see, such as files,git',
  parse: (text) => text,
});
