/**
 * Replacement of a whole table, during which a connection goes on that both the old rules and the new ones allow.
 *
 * Deleting the table and making it anew in one transaction resets connections now and then. The kernel turns to new rules first, and
 * shows the elements of new sets of ranges with two parts, as grants are, a moment later. So sets of grants are filled by a
 * transaction before, in the same table, whose chains and map of grants stay with other contents. A table of another form, as of
 * another version, is made anew.
 */
import type { Log } from '../../../control/ports/index.ts';
import { runCommand } from './command.ts';
import { type Chain, nftJson } from './foreign-forward.ts';
import { grantMap } from './policy/elements.ts';

/** Names of a table's parts. */
interface Names {
  chains: string[];
  sets: string[];
}

/** @param ruleset The whole table as text. @param chains All chains of the host. */
export async function replaceTable(table: string, ruleset: string, chains: Chain[], log: Log): Promise<void> {
  const present = chains.filter((chain) => chain.family === 'inet' && chain.table === table);
  if (present.length === 0) return makeAnew(table, ruleset);
  try {
    await changeInPlace(table, ruleset, {
      chains: present.map(({ name }) => name),
      sets: await setsIn(table),
    });
  } catch (error) {
    log.warn('the firewall table has another form, and is made anew', {
      reason: String((error as Error).cause ?? error),
    });
    await makeAnew(table, ruleset);
  }
}

/** Names of the chains in the text of a table. */
export function chainsIn(ruleset: string): string[] {
  return [...ruleset.matchAll(/^ {2}chain (\S+)/gm)].map(([, name = '']) => name);
}

async function makeAnew(table: string, ruleset: string): Promise<void> {
  await applyText(`add table inet ${table}\ndelete table inet ${table}\n${ruleset}`);
}

async function changeInPlace(table: string, ruleset: string, present: Names): Promise<void> {
  const grantSets = new Map(
    [...ruleset.matchAll(/^ {2}set (grant_\S+) .*$/gm)].map(([line, name]) => [name, line]),
  );
  const had = new Set(present.sets);
  const missing = [...grantSets].flatMap(([name, line]) => (had.has(name ?? '') ? [] : line));
  if (missing.length > 0) await applyText(`table inet ${table} {\n${missing.join('\n')}\n}\n`);
  const stays = new Set(chainsIn(ruleset));
  const chains = present.chains.filter((name) => !stays.has(name));
  const sets = present.sets.filter((name) => !grantSets.has(name));
  await applyText(
    [
      `flush table inet ${table}`,
      `add map inet ${table} ${grantMap} { type ipv4_addr : verdict; }`,
      `flush map inet ${table} ${grantMap}`,
      ...chains.map((name) => `delete chain inet ${table} ${name}`),
      ...sets.map((name) => `delete set inet ${table} ${name}`),
      ruleset,
    ].join('\n'),
  );
}

async function applyText(text: string): Promise<void> {
  await runCommand('nft', ['-f', '-'], text);
}

/** Lists sets, of which none is a map. */
async function setsIn(table: string): Promise<string[]> {
  const rows = await nftJson(['-t', 'list', 'sets']);
  return rows.flatMap(({ set }) => (set?.family === 'inet' && set.table === table ? set.name : []));
}
