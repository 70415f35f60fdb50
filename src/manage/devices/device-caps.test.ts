import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DeviceDocument } from '../../account/device.ts';
import { DAY } from '../../clock.ts';
import type { WatchedFeed } from '../../feed/monitor/feed-watch.ts';
import type { Device } from '../../ports/devices.ts';
import { fullDevice } from './device-caps.ts';

const NOW = 10 * DAY;
const feed = (feedId: string, entries: number, more: Partial<WatchedFeed> = {}): WatchedFeed => ({
  ...{ workspaceId: 'w', feedId, name: feedId, target: 'pan-os', action: 'block', family: 'both', rated: false },
  ...{ facts: { entryCount: entries, entryLimit: 50_000, nextExpiry: 0 }, builtAt: NOW, staleSince: undefined, open: [], ...more },
});
const pulled = (feedId: string, more: Partial<DeviceDocument> = {}): DeviceDocument => ({
  ...{ feedId, format: 'plain', family: 'both', action: 'block', etag: '', lastModified: 0, at: NOW - 1000, ...more },
});
const device = (...documents: DeviceDocument[]) =>
  ({ id: 'd', userAgent: 'PAN', address: '192.0.2.1', keyId: 'k', documents }) as unknown as Device;
const entriesOf = (of: Device, feeds: readonly WatchedFeed[]) => fullDevice(of, feeds, 'main', NOW)?.entries;

test('D29.8 the feeds that a device has pulled within a day count together, where its kind takes a number for all of them', () => {
  const feeds = [feed('a', 30_000), feed('b', 15_000, { target: null }), feed('c', 200)];
  assert.deepEqual(fullDevice(device(pulled('a'), pulled('b')), feeds, 'main', NOW), {
    ...{ id: 'd', user_agent: 'PAN', address: '192.0.2.1', key_id: 'k', workspace: 'main', target: 'pan-os' },
    ...{ entries: 45_000, limit: 50_000, feeds: ['a', 'b'] },
  });
  assert.equal(entriesOf(device(pulled('a'), pulled('b'), pulled('c')), feeds), 45_200);
  // One feed has a cap of its own; what was pulled long ago is not there any more; there is room.
  assert.equal(entriesOf(device(pulled('a')), [feed('a', 50_000)]), undefined);
  assert.equal(entriesOf(device(pulled('a'), pulled('b', { at: NOW - DAY })), feeds), undefined);
  assert.equal(entriesOf(device(pulled('a'), pulled('c')), feeds), undefined);
  // A kind that takes a number for each list, and one whose maker tells none.
  for (const target of ['ipset', 'srx', null])
    assert.equal(
      entriesOf(
        device(pulled('a'), pulled('b')),
        feeds.map((each) => ({ ...each, target })),
      ),
      undefined,
    );
  // The same feed in another format or family is another list of the device; a document that is no feed is none.
  const csv = [feed('a', 30_000, { rated: true }), feed('a', 25_000, { family: 'v4' }), ...feeds];
  assert.equal(entriesOf(device(pulled('a'), pulled('a', { format: 'csv_indicator' }), pulled('a', { format: 'config' })), csv), 60_000);
  assert.equal(entriesOf(device(pulled('a'), pulled('a', { family: 'v4' })), csv), 55_000);
  // Of several processes the one that has built it last.
  assert.equal(entriesOf(device(pulled('a'), pulled('b')), [feed('a', 49_000, { builtAt: 1 }), ...feeds]), 45_000);
});
