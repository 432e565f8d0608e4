import { describe, expect, it } from 'vitest';
import { renderTables, toRows } from '../../bench/base/table.ts';

function only<T>(items: T[]): T {
  expect(items).toHaveLength(1);
  return items[0] as T;
}

describe('rows', () => {
  it('compare medians with both targets', () => {
    const row = only(toRows({ createCold: { sandhaven: [50, 60, 70], docker: [300, 200, 400] } }));
    expect(row).toMatchObject({
      medians: { sandhaven: 60, docker: 300 },
      ratio: 0.2,
      ratioMet: true,
      boundMet: true,
    });
  });

  it('distinguish a missed ratio from a missed bound', () => {
    const slow = only(toRows({ runCommand: { sandhaven: [6], docker: [60] } }));
    expect(slow).toMatchObject({ ratioMet: true, boundMet: false });
    const close = only(toRows({ runCommand: { sandhaven: [4], docker: [8] } }));
    expect(close).toMatchObject({ ratioMet: false, boundMet: true });
  });

  it('take a higher speed as the better one', () => {
    expect(only(toRows({ upload: { sandhaven: [299] } })).boundMet).toBe(false);
    expect(only(toRows({ upload: { sandhaven: [300] } })).boundMet).toBe(true);
  });

  it('claim nothing where there is no target or no counterpart', () => {
    expect(only(toRows({ writeDurable: { sandhaven: [10], docker: [70] } }))).toMatchObject({
      ratioMet: null,
      boundMet: null,
    });
    expect(only(toRows({ createCold: { sandhaven: [10] } }))).toMatchObject({ ratio: null, ratioMet: null });
  });

  it('hold the ratio against the command line, not against the API', () => {
    const row = only(toRows({ runCommand: { sandhaven: [5], docker: [50], dockerApi: [10] } }));
    expect(row.ratio).toBe(0.1);
    expect(row.medians.dockerApi).toBe(10);
  });

  it('check the service’s own bound against its figure over HTTP', () => {
    const row = only(toRows({ findManyBeyond: { sandhaven: [20], sandhavenHttp: [7], mongodbMcp: [100] } }));
    expect(row).toMatchObject({ ratio: 0.2, boundMet: true });
  });

  it('have no ratio to a difference below zero', () => {
    expect(only(toRows({ documentsGrowth: { sandhaven: [20], mongodbMcp: [-3] } })).ratio).toBeNull();
  });

  it('come in the order of the metrics and only for what was measured', () => {
    const ids = toRows({ agentSize: { sandhaven: [2] }, createCold: { sandhaven: [9] } }).map(({ id }) => id);
    expect(ids).toEqual(['createCold', 'agentSize']);
  });
});

describe('the tables', () => {
  it('are one for each rival, with its own columns', () => {
    const samples = { createCold: { sandhaven: [60] }, findMany: { sandhaven: [20], mongodbMcp: [100] } };
    const [ofDocker, ofDocuments] = renderTables(toRows(samples)).split('\n\n');
    expect(ofDocker).toMatch(/^median .* Docker API .*\n.*\ncreate to ready, cold/);
    expect(ofDocuments).toMatch(
      /^median .* mongodb-mcp-server .* bare driver .*\n.*\n1,000 documents found .* 1\/5\.00/,
    );
  });
});

describe('a table', () => {
  const text = renderTables(
    toRows({
      createCold: { sandhaven: [62.04], docker: [248.16], dockerApi: [210] },
      runCommand: { sandhaven: [20], docker: [60] },
      upload: { sandhaven: [620], docker: [310] },
      writeDurable: { sandhaven: [12.5] },
    }),
  );
  const [header, rule, ...lines] = text.split('\n');

  it('has a line for each row below its header', () => {
    expect(header).toMatch(/^median\s+Sandhaven\s+p95\s+Docker\s+ratio\s+Docker API\s+target\s+met$/);
    expect(rule).toMatch(/^[- ]+$/);
    expect(lines).toHaveLength(4);
  });

  it('shows figures, ratio, target and verdict', () => {
    expect(lines[0]).toMatch(
      /^create to ready, cold\s+ms\s+62\.0\s+62\.0\s+248\s+1\/4\.00\s+210\s+1\/4, ≤ 80 ms\s+yes$/,
    );
    expect(lines[1]).toMatch(/1\/3\.00\s+1\/5, ≤ 5 ms\s+NO$/);
    expect(lines[2]).toMatch(/^1 KiB file written, durable.*12\.5\s+12\.5$/);
    expect(lines[3]).toMatch(/2\.00×\s+≥ 300 MB\/s\s+yes$/);
  });

  it('keeps its columns aligned', () => {
    const right = (line: string | undefined, part: string) => (line ?? '').indexOf(part) + part.length;
    expect(right(lines[0], '248')).toBe(right(header, 'Docker'));
    expect(right(lines[3], '310')).toBe(right(header, 'Docker'));
  });
});
