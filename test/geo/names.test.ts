/** What ASNs are called: read beside their ranges, whatever the format of the file. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Network } from '@weir/network/network.ts';
import { parseNetwork } from '@weir/network/parse.ts';
import type { GeoData } from '../../src/geo/data.ts';
import { loadGeo } from '../../src/geo/load.ts';
import { locate } from '../../src/geo/locate.ts';
import { nameOf } from '../../src/geo/names.ts';
import { compileFiles, folderOf } from '../support/geo.ts';
import { mmdb } from '../support/mmdb.ts';

const at = (data: GeoData, address: string) => locate(data, { kind: 'ip', network: parseNetwork(address) as Network });

test('D18.100 every format that has names of ASNs gives them; one without has none', async (t) => {
  const cases: Record<string, [content: string | Uint8Array, names: (string | null)[]]> = {
    'start,end,asn,name': [
      '1.0.0.0,1.0.0.255,13335,"Cloudflare, ""the"" Inc."\n1.0.1.0,1.0.1.255,13335,Another\n1.0.2.0,1.0.2.255,64500\n',
      ['Cloudflare, "the" Inc.', null],
    ],
    'network,asn,name': ['1.0.0.0/24,AS13335,Cloudflare\n1.0.2.0/24,64500,\n', ['Cloudflare', null]],
    'start,end,asn': ['1.0.0.0,1.0.0.255,13335\n1.0.2.0,1.0.2.255,64500\n', [null, null]],
    GeoLite2: [
      'network,autonomous_system_number,autonomous_system_organization\n1.0.0.0/24,13335,CLOUDFLARENET\n1.0.2.0/24,64500,"Größe 中\u202e\u0007"\n',
      ['CLOUDFLARENET', 'Größe 中'],
    ],
    'names before keys': ['as_name,network,asn\nCloudflare,1.0.0.0/24,13335\nExample,1.0.2.0/24,64500\n', ['Cloudflare', 'Example']],
    MMDB: [
      mmdb({
        '1.0.0.0/24': { autonomous_system_number: 13335, autonomous_system_organization: 'CLOUDFLARENET' },
        '1.0.2.0/24': { asn: 'AS64500', as_name: 'x'.repeat(200) },
      }),
      ['CLOUDFLARENET', 'x'.repeat(100)],
    ],
  };
  for (const [format, [content, expected]] of Object.entries(cases)) {
    const { names, keys } = await compileFiles(t, 'asn', { 'a.csv': content });
    assert.equal(keys, 2, format);
    assert.deepEqual(
      [13335, 64500].map((asn) => nameOf(names, asn)),
      expected,
      format,
    );
    for (const asn of [0, 13334, 13336, 4_294_967_295]) assert.equal(nameOf(names, asn), null, `${format}: ${asn}`);
  }
});

test('D18.100 names are as they were after a start from the cache, and are of addresses and ASNs', async (t) => {
  const asn = '1.0.0.0,1.0.0.255,13335,"Cloudflare, Inc."\n2001:db8::,2001:db8::ffff,64500,Example\n';
  const folder = await folderOf(t, { 'c.csv': '1.0.0.0,1.0.0.255,AU\n', 'a.csv': asn });
  const files = { country: join(folder, 'c.csv'), asn: join(folder, 'a.csv') };
  for (const data of [await loadGeo(files, folder), await loadGeo(files, folder)]) {
    assert.deepEqual(at(data, '1.0.0.7'), { country: 'AU', asn: 13335, asnName: 'Cloudflare, Inc.', attribution: null });
    assert.deepEqual(at(data, '2001:db8::1'), { country: null, asn: 64500, asnName: 'Example', attribution: null });
    assert.deepEqual(at(data, '192.0.2.1'), { country: null, asn: null, asnName: null, attribution: null });
    assert.deepEqual(locate(data, { kind: 'asn', asn: 64500 }), { country: null, asn: 64500, asnName: 'Example', attribution: null });
    assert.equal(locate(data, { kind: 'country', country: 'AU' }), null);
  }
});

test('D18.100 the packaged data name their ASNs', async () => {
  const data = await loadGeo({ country: undefined, asn: undefined });
  assert.equal(nameOf(data.asn.names, 13335), 'Cloudflare, Inc.');
  assert.match(at(data, '8.8.8.8')!.attribution!, /https:\/\/db-ip\.com/);
  assert.ok(data.asn.names!.count > 0.99 * data.asn.keys && data.asn.names!.bytes.byteLength < 5_000_000);
});
