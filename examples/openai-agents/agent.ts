/** An agent with the OpenAI Agents SDK: Sandhaven is its MCP server, and the agent makes its sandbox itself. */
import { Agent, MCPServerStreamableHttp, type ModelProvider, Runner } from '@openai/agents';
import { headers, mcpUrl } from '../connection.ts';

/** @param modelProvider By default OpenAI's, with OPENAI_API_KEY. */
export async function solve(task: string, modelProvider?: ModelProvider): Promise<string> {
  const sandhaven = new MCPServerStreamableHttp({
    name: 'sandhaven',
    url: mcpUrl('sandboxes', 'execution').href,
    requestInit: { headers },
    cacheToolsList: true,
  });
  await sandhaven.connect();
  try {
    const agent = new Agent({
      name: 'Engineer',
      instructions:
        'Solve the task by running code in a sandbox. Create one with ephemeral: true, and delete it when you are done.',
      mcpServers: [sandhaven],
    });
    const runner = new Runner({ tracingDisabled: true, ...(modelProvider ? { modelProvider } : {}) });
    const { finalOutput } = await runner.run(agent, task);
    return finalOutput ?? '';
  } finally {
    await sandhaven.close();
  }
}
