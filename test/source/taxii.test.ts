/** Pulls from medallion, the standard's own server, which people add to, revoke in and remove from. */
import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import { ANYWHERE } from '../../src/fetch/reach.ts';
import { taxiiServer } from '../../src/fetch/taxii.ts';
import { isRefused } from '../../src/source/taxii/ask.ts';
import type { KnownCollection } from '../../src/source/taxii/known.ts';
import { pullTaxii, type TaxiiPulled } from '../../src/source/taxii/pull.ts';
import { temporaryFolder } from '../support/folder.ts';
import { startMedallion, withoutMedallion } from '../support/medallion.ts';

const TYPE = 'application/taxii+json;version=2.1';
const ID = '91a7b528-80eb-42ed-a74d-c6fbd5a26116';
const OTHER = '52892447-4d7e-4f70-b94d-d7f22742ff63';
const USERS = { reader: 'secret' };
const authorization = `Basic ${Buffer.from('reader:secret').toString('base64')}`;
const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
const MICROS = (n: number) => `2026-11-01T10:00:00.${String(n).padStart(6, '0')}Z`;

const indicator = (n: number, more: object = {}) => ({
  type: 'indicator',
  spec_version: '2.1',
  id: `indicator--${uuid(n)}`,
  created: '2026-01-01T00:00:00.000Z',
  modified: '2026-01-01T00:00:00.000Z',
  pattern: `[ipv4-addr:value = '192.0.2.${n}']`,
  pattern_type: 'stix',
  valid_from: '2026-01-01T00:00:00Z',
  ...more,
});

/** Forty indicators, each added a microsecond after the other, and one other object among them. */
const objects = [
  ...Array.from({ length: 40 }, (_, i) => indicator(i + 1)),
  { type: 'ipv4-addr', spec_version: '2.1', id: `ipv4-addr--${uuid(99)}`, value: '192.0.2.99' },
];
const collection = (id: string, title: string, has: readonly { id: string; modified?: string }[], canRead = true) => ({
  id,
  title,
  can_read: canRead,
  can_write: true,
  media_types: ['application/stix+json;version=2.1'],
  objects: has,
  manifest: has.map(({ id: object, modified = MICROS(0) }, i) => ({
    id: object,
    version: modified,
    date_added: MICROS(i),
    media_type: 'application/stix+json;version=2.1',
  })),
});
const DATA = {
  '/discovery': { title: 'test', default: '/root/', api_roots: ['/root/'] },
  root: {
    information: { title: 'root', versions: [TYPE], max_content_length: 9_765_625 },
    status: [],
    collections: [collection(ID, 'attackers', objects), collection(OTHER, 'hidden', [], false)],
  },
};

const ended = new AbortController();
after(() => ended.abort());

suite('medallion', { skip: withoutMedallion() }, async () => {
  const folder = temporaryFolder({ after });
  let url = '';
  const pull = (known?: KnownCollection, credentials: Record<string, string> = { authorization }, address = `${url}/taxii2/`) => {
    const limits = { idleMs: 30_000, totalMs: 60_000, bytes: 1 << 22 };
    const request = { url: address, userAgent: 'weir/test', credentials, limits, reach: ANYWHERE, signal: ended.signal };
    return pullTaxii({ server: taxiiServer(request, Date.now), collection: undefined, known, now: Date.now });
  };
  const pulled = async (known?: KnownCollection): Promise<TaxiiPulled> => {
    const found = await pull(known);
    assert.ok(!isRefused(found), JSON.stringify(found));
    return found;
  };
  const hosts = ({ list }: TaxiiPulled) => [...list.rows].map((row) => Number(String(row.value).split('.')[3])).sort((a, b) => a - b);
  const add = async (...added: object[]) => {
    const answer = await fetch(`${url}/root/collections/${ID}/objects/`, {
      method: 'POST',
      headers: { authorization, accept: TYPE, 'content-type': TYPE },
      body: JSON.stringify({ objects: added }),
    });
    assert.equal(answer.status, 202, await answer.text());
  };

  test('D23.31, D23.34 all of a collection in pages of seven, then only what was added: newer versions, revoked ones, whole patterns', async () => {
    url = await startMedallion(DATA, USERS, folder, ended.signal);
    const first = await pulled();
    const all = Array.from({ length: 40 }, (_, i) => i + 1);
    assert.deepEqual(hosts(first), all);
    assert.deepEqual([first.pages, first.note, first.known.cursor], [6, undefined, MICROS(39)]);

    const again = await pulled(first.known);
    assert.deepEqual([again.digest, again.pages, again.known.cursor], [first.digest, 1, MICROS(39)]);

    await add(
      indicator(1, { modified: '2026-02-01T00:00:00.000Z', pattern: "[ipv4-addr:value = '192.0.2.101']" }),
      indicator(2, { modified: '2026-02-01T00:00:00.000Z', revoked: true }),
      indicator(50, { pattern: "[ipv4-addr:value = '192.0.2.102' OR domain-name:value = 'a.example']" }),
      indicator(51, { pattern: "[ipv4-addr:value = '192.0.2.103' AND network-traffic:dst_port = 25]" }),
    );
    const next = await pulled(again.known);
    assert.deepEqual(hosts(next), [...all.slice(2), 101, 102]);
    assert.deepEqual(
      { ...next.list.passed },
      {
        revoked: 1,
        'another object: domain-name': 1,
        'AND: an address together with something else': 1,
      },
    );
    assert.notEqual(next.known.cursor, MICROS(39));
    assert.deepEqual(hosts(await pulled(next.known)), hosts(next));
    assert.deepEqual(hosts(await pulled()), hosts(next));
  });

  test('D23.30 without the right credentials it is refused, and what it does not have is not found', async () => {
    const refused = async (...asked: Parameters<typeof pull>) => {
      const found = await pull(...asked);
      return isRefused(found) && found.status;
    };
    assert.equal(await refused(undefined, {}), 401);
    assert.equal(await refused(undefined, { authorization }, `${url}/root/collections/${OTHER}/objects/`), 403);
    assert.equal(await refused(undefined, { authorization }, `${url}/root/collections/${uuid(7)}/`), 404);
  });
});
