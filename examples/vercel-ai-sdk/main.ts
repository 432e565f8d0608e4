/** Runs the agent with a real model: `AI_MODEL=anthropic/… AI_GATEWAY_API_KEY=… node vercel-ai-sdk/main.ts`. */
import { solve } from './agent.ts';

const model = process.env['AI_MODEL'];
if (!model) throw new Error('Set AI_MODEL, and the key of its provider or of the AI gateway.');
console.log(
  await solve(model, process.argv[2] ?? 'What are the first 20 primes? Compute them with a program.'),
);
