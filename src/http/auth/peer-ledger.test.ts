import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MOST_PEERS, NO_GUARD_RAILS } from '../../account/guard-rails.ts';
import { peerLedger } from './peer-ledger.ts';

const HOUR = 3_600_000;

function world(service: readonly string[] = []) {
  let at = 0;
  let early = 0;
  const ledger = peerLedger({ ...NO_GUARD_RAILS, protect: service }, ['198.51.100.0/24'], () => at);
  ledger.onFirst = () => {
    early += 1;
  };
  const note = (
    workspaceId: string,
    ip: string,
    { protect = ['peers'], keyId = 'k', ...of }: Partial<{ protect: string[]; keyId: string; personId: string }> = {},
  ) => ledger.note({ workspaceId, keyId, guardRails: { ...NO_GUARD_RAILS, protect }, ...of }, ip);
  const addresses = (seen: ReturnType<typeof ledger.take>) =>
    Object.fromEntries([...seen].map(([id, peers]) => [id, peers.map(({ address }) => address)]));
  const wait = (ms: number) => {
    at += ms;
  };
  return { ledger, note, addresses, early: () => early, wait };
}

test('D62.2, D62.3 clients are noted where peers are protected, but no proxies and private addresses; each once an hour', () => {
  const { ledger, note, addresses, wait } = world();
  for (const ip of ['9.9.9.9', '9.9.9.9', '2001:DB8:0::1', '10.0.0.1', '127.0.0.1', '::1', 'fe80::1%eth0', '198.51.100.7', ''])
    note('a', ip);
  note('b', '9.9.9.9', { protect: ['private'] });
  note('c', '9.9.9.9', { protect: ['warn:peers'], personId: 'oidc:ann', keyId: 'oidc:ann' });
  const seen = ledger.take();
  assert.deepEqual(addresses(seen), { a: ['9.9.9.9', '2001:db8::1'], c: ['9.9.9.9'] });
  assert.deepEqual(seen.get('c'), [{ keyId: 'oidc:ann', address: '9.9.9.9', isPerson: true, at: 0 }]);
  note('a', '9.9.9.9');
  assert.deepEqual(addresses(ledger.take()), {});
  wait(HOUR);
  note('a', '9.9.9.9');
  assert.deepEqual(addresses(ledger.take()), { a: ['9.9.9.9'] });
  // A failed write.
  ledger.forget('a');
  note('a', '9.9.9.9');
  assert.deepEqual(addresses(ledger.take()), { a: ['9.9.9.9'] });
  const everywhere = world(['peers']);
  everywhere.note('b', '9.9.9.9', { protect: [] });
  assert.deepEqual(addresses(everywhere.ledger.take()), { b: ['9.9.9.9'] });
});

test('D62.2, D22.6 a workspace with any number of addresses delays the first of no other, and is written early once', () => {
  const { ledger, note, addresses, early } = world();
  note('busy', '9.9.9.9');
  assert.deepEqual([early(), addresses(ledger.takeFirst())], [1, { busy: ['9.9.9.9'] }]);
  for (let i = 0; i < 3 * MOST_PEERS; i += 1) note('busy', `2600::${i.toString(16)}`);
  note('quiet', '8.8.8.8');
  assert.deepEqual([early(), addresses(ledger.takeFirst())], [2, { quiet: ['8.8.8.8'] }]);
  assert.equal(addresses(ledger.take()).busy!.length, MOST_PEERS);
  note('busy', '9.9.9.8');
  assert.equal(early(), 3);
});
