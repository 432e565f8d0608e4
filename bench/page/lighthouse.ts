/** Runs Lighthouse on a tab of a browser that is signed in already. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const program = join(import.meta.dirname, 'node_modules', 'lighthouse', 'cli', 'index.js');
const run = promisify(execFile);

export interface Audit {
  /** Out of a hundred. */
  performance: number;
  accessibility: number;
  /** What costs points, each with its weight in the score. */
  lost: string[];
}

interface Report {
  categories: Record<'performance' | 'accessibility', Category>;
  audits: Record<string, { title: string; score: number | null; displayValue?: string }>;
}
interface Category {
  score: number | null;
  auditRefs: { id: string; weight: number }[];
}

export type Form = 'desktop' | 'mobile';

/** Runs of which the middle one counts, as Lighthouse itself advises. */
const RUNS = 3;

/** @param port Of the browser's debugger. */
export async function audit(url: string, port: number, form: Form, file: string): Promise<Audit> {
  const audits: Audit[] = [];
  for (let round = 0; round < RUNS; round++) audits.push(await auditOnce(url, port, form, file));
  const [middle] = audits.toSorted((a, b) => a.performance - b.performance).slice(Math.floor(RUNS / 2));
  if (!middle) throw new Error('nothing was measured');
  return middle;
}

async function auditOnce(url: string, port: number, form: Form, file: string): Promise<Audit> {
  const how = ['--quiet', `--port=${port}`, '--only-categories=performance,accessibility'];
  const output = ['--output=json', `--output-path=${file}`];
  // Mobile is what it does without a preset.
  const preset = form === 'desktop' ? ['--preset=desktop'] : [];
  await run(process.execPath, [program, url, ...how, ...output, ...preset]);
  const text = await readFile(file, 'utf8');
  // Lighthouse empties the browser's cache and keeps its cookies: without them it would measure the sign-in.
  if (!text.includes('/v1/tools/Sandbox.ListSandboxes'))
    throw new Error('the list was not what was measured');
  return summaryOf(JSON.parse(text) as Report);
}

function summaryOf({ categories, audits }: Report): Audit {
  const { performance, accessibility } = categories;
  const lost = [...performance.auditRefs, ...accessibility.auditRefs].flatMap(({ id, weight }) => {
    const found = audits[id];
    if (!found || weight === 0 || found.score === null || found.score >= 0.95) return [];
    return [
      `${found.title} ${found.displayValue ?? ''} (${Math.round(found.score * 100)} of 100, weight ${weight})`,
    ];
  });
  const points = (score: number | null) => Math.round((score ?? 0) * 100);
  return { performance: points(performance.score), accessibility: points(accessibility.score), lost };
}
