import assert from 'node:assert/strict';
import { utimesSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../test/support/folder.ts';
import type { Config } from '../settings/settings.ts';
import { judgingSettings, servedSettings } from './served-settings.ts';

test('D10.22 a command judges as the server does that runs on its DATA_DIR, and by its own settings where none runs', (t) => {
  const dataDir = temporaryFolder(t);
  const own = { dataDir, protectedNetworks: ['private'], minPrefixV4: 0, minPrefixV6: 0, trustProxy: [] } as unknown as Config;
  const guardRails = { protect: ['special'], minPrefixV4: 8, minPrefixV6: 19, self: ['192.0.2.1'] };
  const file = join(dataDir, 'status-1.json');
  const downloads = join(dataDir, 'geo');

  assert.deepEqual(servedSettings(own).guardRails.protect, ['private']);
  writeFileSync(file, JSON.stringify({ judges: judgingSettings({ ...own, geoCountryFile: 'country.csv' }, guardRails) }));
  assert.deepEqual(servedSettings({ ...own, geoAsnFile: 'asn.csv' }), {
    guardRails,
    geo: { country: resolve('country.csv'), asn: undefined, downloads },
  });
  // It has stopped, or is an older one.
  utimesSync(file, new Date(), new Date(Date.now() - 60_000));
  assert.deepEqual(servedSettings(own).guardRails.protect, ['private']);
  writeFileSync(file, JSON.stringify({ feeds: [] }));
  assert.deepEqual(servedSettings({ ...own, geoAsnFile: 'asn.csv' }).geo, { country: undefined, asn: 'asn.csv', downloads });
});
