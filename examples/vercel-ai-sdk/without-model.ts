/** Runs the agent with a model that follows a script, so that it can be tried, and tested, without one. */
import { MockLanguageModelV3 } from 'ai/test';
import { solve } from './agent.ts';

type Answer = Awaited<ReturnType<MockLanguageModelV3['doGenerate']>>;
type Prompt = Parameters<MockLanguageModelV3['doGenerate']>[0]['prompt'];

const usage: Answer['usage'] = {
  inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 0, text: 0, reasoning: 0 },
};

/** The last tool's result, as the model gets to see it. */
function lastResult(prompt: Prompt): string {
  const parts = prompt.flatMap(({ role, content }) => (role === 'tool' ? content : []));
  const result = parts.findLast((part) => part.type === 'tool-result');
  return JSON.stringify(result?.type === 'tool-result' ? result.output : null);
}

function use(toolName: string, parameters: object): Answer {
  const call = {
    type: 'tool-call' as const,
    toolCallId: toolName,
    toolName,
    input: JSON.stringify(parameters),
  };
  return { content: [call], finishReason: { unified: 'tool-calls', raw: undefined }, usage, warnings: [] };
}

function say(text: string): Answer {
  const finishReason = { unified: 'stop' as const, raw: undefined };
  return { content: [{ type: 'text', text }], finishReason, usage, warnings: [] };
}

const model: MockLanguageModelV3 = new MockLanguageModelV3({
  async doGenerate({ prompt }) {
    const sandbox = /the sandbox "([^"]+)"/.exec(JSON.stringify(prompt[0]).replaceAll('\\"', '"'))?.[1];
    const steps = prompt.filter(({ role }) => role === 'tool').length;
    if (steps === 0) {
      const content = 'print([n for n in range(2, 72) if all(n % d for d in range(2, n))])\n';
      return use('Sandbox_WriteFile', { sandbox, path: 'primes.py', content });
    }
    if (steps === 1) return use('Sandbox_RunCommand', { sandbox, command: 'python3 primes.py' });
    return say(`The program printed ${/\[2, [\d, ]+\]/.exec(lastResult(prompt))?.[0] ?? 'no primes'}.`);
  },
});

console.log(await solve(model, 'What are the first 20 primes? Compute them with a program.'));
