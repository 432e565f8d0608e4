/** Runs the agent with OpenAI's model: `OPENAI_API_KEY=… node openai-agents/main.ts`. */
import { solve } from './agent.ts';

console.log(
  await solve(process.argv[2] ?? 'What is the 1000th Fibonacci number? Compute it with a program.'),
);
