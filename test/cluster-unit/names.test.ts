/** The test cluster's name server reads queries and answers by the Services that there are. */
import { describe, expect, it } from 'vitest';
import { NAME_ERROR, NO_ERROR, readQuery, TYPE_A, writeAnswer } from '../cluster/names/message.ts';
import { recordsOf } from '../cluster/names/records.ts';

/** Asks with recursion for the A record of `web.Default`. */
const QUERY = Buffer.from(
  '1234 0100 0001 0000 0000 0000 03776562 0744656661756c74 00 0001 0001'.replaceAll(' ', ''),
  'hex',
);

describe('a message', () => {
  it('is read without regard to case', () => {
    expect(readQuery(QUERY)).toMatchObject({ name: 'web.default', type: TYPE_A });
  });

  it('is answered with the question and an address', () => {
    const query = readQuery(QUERY);
    const said = query && writeAnswer(query, NO_ERROR, ['10.0.0.1']).toString('hex');
    expect(said).toBe(
      '1234858000010001000000000377656207446566617' + '56c740000010001' + 'c00c000100010000000500040a000001',
    );
  });

  it('is answered that there is no such name', () => {
    const query = readQuery(QUERY);
    expect(query && writeAnswer(query, NAME_ERROR, []).readUInt16BE(2)).toBe(0x8583);
  });

  it.each([
    ['a response', Buffer.from(QUERY).fill(0x81, 2, 3)],
    ['two questions', Buffer.from(QUERY).fill(2, 5, 6)],
    ['a name that points', Buffer.from(QUERY).fill(0xc0, 12, 13)],
    ['a name without end', QUERY.subarray(0, 18)],
    ['half a question', QUERY.subarray(0, -1)],
    ['half a header', QUERY.subarray(0, 5)],
  ])('is ignored when it is %s', (_what, message) => {
    expect(readQuery(message)).toBeNull();
  });
});

describe('records', () => {
  const service = (name: string, spec: object) => ({ metadata: { name, namespace: 'a' }, spec });
  const slice = (name: string, endpoints: object[]) => ({
    metadata: { name: `${name}-1`, namespace: 'a', labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    endpoints,
  });
  const endpoints = [
    { addresses: ['10.0.0.1'], hostname: 'web-0' },
    { addresses: ['10.0.0.2'], conditions: { ready: false } },
  ];

  it('lead to the address of a Service', () => {
    const records = recordsOf([service('web', { clusterIP: '10.1.0.1' })], [slice('web', endpoints)]);
    expect(records.get('web.a.svc.cluster.local')).toEqual(['10.1.0.1']);
  });

  it('lead to the ready endpoints of a headless Service, and to each by its host name', () => {
    const records = recordsOf([service('web', { clusterIP: 'None' })], [slice('web', endpoints)]);
    expect(records.get('web.a.svc.cluster.local')).toEqual(['10.0.0.1']);
    expect(records.get('web-0.web.a.svc.cluster.local')).toEqual(['10.0.0.1']);
  });

  it('know the names above, and no others', () => {
    const records = recordsOf([service('web', { clusterIP: '10.1.0.1' })], []);
    expect([...records.keys()]).toEqual([
      'web.a.svc.cluster.local',
      'a.svc.cluster.local',
      'svc.cluster.local',
      'cluster.local',
      'local',
    ]);
  });
});
