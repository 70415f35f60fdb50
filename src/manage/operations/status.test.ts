import assert from 'node:assert/strict';
import { test } from 'node:test';
import { STATUS_OPERATIONS } from './status.ts';

test('D15.15 geo data are told by where they come from, never by the path of a file of the operator', () => {
  const { show } = STATUS_OPERATIONS.find(({ name }) => name === 'getGeo')!;
  const sourceOf = (source: string) => {
    const { body } = show({ version: '1', country: { source }, asn: { source } } as never, undefined as never) as {
      body: { country: { source: string }; asn: { source: string } };
    };
    return [body.country.source, body.asn.source];
  };
  assert.deepEqual(sourceOf('packaged'), ['packaged', 'packaged']);
  assert.deepEqual(sourceOf('downloaded'), ['downloaded', 'downloaded'], 'what weir fetched itself is of no operator');
  assert.deepEqual(sourceOf('/etc/weir/GeoLite2.mmdb'), ['operator', 'operator']);
});
