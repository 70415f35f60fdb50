import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gapOf } from './enforcement-gap.ts';

const HOUR = 3_600_000;
const seen = { userAgent: 'x/1', networks: 3, leftOutNetworks: 0, leftOutAddresses: 0, lastPull: 10 * HOUR, lastStream: 10 * HOUR };
const TRAEFIK = 'Crowdsec-Bouncer-Traefik-Plugin/1.4.5';

test('D14.13 who compares texts enforces no network of the stream; what it looks up it does enforce', () => {
  const traefik = { ...seen, userAgent: TRAEFIK };
  assert.match(gapOf(traefik)!.text, /3 networks on the stream and enforces none of them: use its live mode, or set single_addresses/);
  assert.equal(gapOf(traefik)!.isCertain, true);
  for (const fine of [{ lastStream: null }, { lastStream: 8 * HOUR }, { networks: 0 }])
    assert.equal(gapOf({ ...traefik, ...fine }), undefined);
});

test('D14.13 of the firewall bouncer weir does not see the mode, and says so', () => {
  const firewall = { ...seen, userAgent: 'crowdsec-firewall-bouncer/v0.0.34' };
  assert.match(gapOf(firewall)!.text, /ipset mode enforces them; in nftables mode/);
  assert.equal(gapOf(firewall)!.isCertain, false);
  assert.equal(gapOf({ ...firewall, networks: 0 }), undefined);
  assert.equal(gapOf(seen), undefined);
  assert.match(gapOf({ ...firewall, networks: 0, leftOutNetworks: 1, leftOutAddresses: 256 })!.text, /does not get 1 network with 256/);
});
