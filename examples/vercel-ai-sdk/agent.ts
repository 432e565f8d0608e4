/** An agent with the Vercel AI SDK: the model gets Sandhaven's tools by MCP, and a sandbox of its own by the SDK. */
import { createMCPClient } from '@ai-sdk/mcp';
import { Sandhaven } from '@sandhaven/sdk';
import { generateText, type LanguageModel, stepCountIs, type ToolSet } from 'ai';
import { headers, mcpUrl } from '../connection.ts';

const MOST_STEPS = 20;

/** @returns what the model says in the end. */
export async function solve(model: LanguageModel, task: string): Promise<string> {
  // The sandbox is the program's business, so that it is gone afterwards whatever the model does.
  const sandhaven = new Sandhaven();
  const sandbox = await sandhaven.createSandbox({ ephemeral: true, cpu: 1, memory_gb: 1, disk_gb: 1 });
  const mcp = await createMCPClient({
    transport: { type: 'http', url: mcpUrl('files', 'execution').href, headers },
  });
  try {
    const { text } = await generateText({
      model,
      // Tools whose schemas came over the network have no types of their own.
      tools: (await mcp.tools()) as ToolSet,
      system: `You work in the sandbox "${sandbox.name}": give it as \`sandbox\` to every tool.`,
      prompt: task,
      stopWhen: stepCountIs(MOST_STEPS),
    });
    return text;
  } finally {
    await mcp.close();
    await sandhaven.deleteSandbox({ sandbox: sandbox.id });
  }
}
