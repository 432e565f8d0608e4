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

/** @param port Of the browser's debugger. */
export async function audit(url: string, port: number, form: Form, file: string): Promise<Audit> {
  const how = [
    '--quiet',
    '--disable-storage-reset',
    `--port=${port}`,
    '--only-categories=performance,accessibility',
  ];
  const output = ['--output=json', `--output-path=${file}`];
  // Mobile is what it does without a preset.
  const preset = form === 'desktop' ? ['--preset=desktop'] : [];
  await run(process.execPath, [program, url, ...how, ...output, ...preset]);
  return summaryOf(JSON.parse(await readFile(file, 'utf8')) as Report);
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
