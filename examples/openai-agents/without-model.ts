/** Runs the agent with a model that follows a script, so that it can be tried, and tested, without one. */
import { type Model, type ModelProvider, type ModelRequest, type ModelResponse, Usage } from '@openai/agents';
import { solve } from './agent.ts';

type Output = ModelResponse['output'];

/** The outputs of the tools called so far, oldest first, as the model gets to see them. */
function toolOutputs({ input }: ModelRequest): string[] {
  if (typeof input === 'string') return [];
  return input.flatMap((item) => (item.type === 'function_call_result' ? [JSON.stringify(item.output)] : []));
}

function use(name: string, parameters: object): Output {
  return [
    { type: 'function_call', callId: name, name, arguments: JSON.stringify(parameters), status: 'completed' },
  ];
}

function say(text: string): Output {
  return [
    { type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text }] },
  ];
}

function next(outputs: string[]): Output {
  const sandbox = /sb_[0-9a-z]{16}/.exec(outputs[0] ?? '')?.[0];
  switch (outputs.length) {
    case 0:
      return use('Sandbox_CreateSandbox', { ephemeral: true, cpu: 1, memory_gb: 1, disk_gb: 1 });
    case 1:
      return use('Sandbox_RunCode', {
        sandbox,
        code: 'a, b = 0, 1\nfor _ in range(90): a, b = b, a + b\nprint(a)',
      });
    case 2:
      return use('Sandbox_DeleteSandbox', { sandbox });
    default:
      return say(`The program printed ${/\d{10,}/.exec(outputs[1] ?? '')?.[0] ?? 'no number'}.`);
  }
}

const model: Model = {
  getResponse: async (request) => ({ usage: new Usage(), output: next(toolOutputs(request)) }),
  // biome-ignore lint/correctness/useYield: this model does not stream.
  async *getStreamedResponse() {
    throw new Error('This model does not stream.');
  },
};
const provider: ModelProvider = { getModel: () => model };

console.log(await solve('What is the 90th Fibonacci number? Compute it with a program.', provider));
