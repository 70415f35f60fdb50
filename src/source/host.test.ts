import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leastInterval } from './catalogue.ts';
import { hostOf, placeOf } from './host.ts';

/** Ways to write a host, each with the one name that it has. */
const SPELLINGS: Readonly<Record<string, readonly string[]>> = {
  'spamhaus.org': [
    'https://www.spamhaus.org/drop',
    'https://WWW.Spamhaus.ORG/drop',
    'https://www.spamhaus.org./drop',
    'https://spamhaus.org',
    'http://spamhaus.org:80/',
    'http://spamhaus.org:443/',
    'https://ｗｗｗ.spamhaus。org/',
  ],
  'xn--mnchen-3ya.example': ['https://münchen.example/', 'https://XN--MNCHEN-3YA.example./', 'https://MÜNCHEN.example:443/'],
  '192.0.2.1': [
    'http://192.0.2.1',
    'http://0xc0.0.2.1/',
    'http://3221225985/',
    'http://0300.0.02.01/',
    'http://[::ffff:192.0.2.1]/',
    'http://192.0.2.1./',
  ],
  '2001:db8::1': ['http://[2001:db8::1]/', 'http://[2001:0DB8:0:0::0:1]:80/'],
  'lists.example:8443': ['https://lists.example:8443/', 'http://lists.example.:8443'],
};

test('D43.2 a host is one, whatever the case, final dot, usual port, www, IDN or spelling of an address', () => {
  for (const [name, urls] of Object.entries(SPELLINGS)) for (const url of urls) assert.equal(hostOf(new URL(url)), name, url);
  for (const url of SPELLINGS['spamhaus.org']!) assert.equal(leastInterval(new URL(url)), 3600, url);
  assert.equal(leastInterval(new URL('https://spamhaus.org:8443/')), 3600);
  assert.equal(leastInterval(new URL('https://lists.example/')), undefined);
});

test('D43.2 of a host that sets an interval an address is one, whatever its query and however its path is written', () => {
  const place = (path: string) => placeOf(new URL(`https://www.spamhaus.org${path}`), true);
  for (const path of [
    '/drop/drop_v4.json?x=1',
    '//drop//drop_v4.json',
    '/drop/%64rop_v4.json',
    '/drop/DROP_v4.json/',
    '/drop%2Fdrop_v4.json',
    '/x/%2e%2e/drop/drop_v4.json',
  ])
    assert.equal(place(path), 'spamhaus.org/drop/drop_v4.json', path);
  assert.notEqual(place('/drop/drop_v6.json'), place('/drop/drop_v4.json'));
  assert.equal(place('/%zz'), 'spamhaus.org/%zz');
  const elsewhere = (path: string) => placeOf(new URL(path, 'https://lists.example'), false);
  assert.notEqual(elsewhere('/a?list=1'), elsewhere('/a?list=2'));
});
