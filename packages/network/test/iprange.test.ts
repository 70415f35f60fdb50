import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { readLines } from '../../../test/support/network-lines.ts';
import { needs } from '../../../test/support/programs.ts';
import { seededRandom } from '../../../test/support/random.ts';
import { denseV4Host, mixedV4, networkText, randomV4Host } from '../../../test/support/random-networks.ts';
import { coalesceV4, coalesceV6 } from '../coalesce.ts';
import { V4Ranges, V6Ranges } from '../ranges.ts';
import { renderCidrs } from '../render.ts';

/** The plain feed of a text of networks. */
function plain(text: string): string {
  const [v4, v6] = [new V4Ranges(), new V6Ranges()];
  assert.equal(readLines(Buffer.from(text), v4, v6), null);
  const cidrs = [coalesceV4(v4), coalesceV6(v6)] as const;
  return cidrs[0].length + cidrs[1].length === 0 ? '' : Buffer.from(renderCidrs(...cidrs, { separator: '\n', tail: '\n' })).toString();
}

/** What iprange makes of a text; it writes hosts without their prefix. */
function iprange(text: string, ...options: string[]): string {
  return execFileSync('iprange', [...options, '-'], { input: text, encoding: 'utf8', maxBuffer: 2 ** 28 });
}

const bareHosts = (text: string) => text.replaceAll('/32\n', '\n');

describe('4.3.4 4.5 FireHOL iprange', { skip: needs('iprange') }, () => {
  // No set ends at 255.255.255.255: there iprange 1.0.4 itself overflows and loses addresses.
  const random = seededRandom(11);
  const sets = [
    ...[1, 2, 10, 100, 1000, 20_000].map((count) => ({ name: `${count} random hosts`, text: networkText(randomV4Host, random, count) })),
    ...[10, 1000, 20_000].map((count) => ({ name: `${count} mixed networks`, text: networkText(mixedV4, random, count) })),
    { name: '20,000 hosts of a /18', text: networkText((r) => `10.0.${r.below(64)}.${r.below(256)}`, random, 20_000) },
    { name: '50,000 hosts of a /11', text: networkText(denseV4Host, random, 50_000) },
    { name: 'host bits', text: '10.1.2.3/8\n11.255.255.255/8\n' },
  ];
  for (const { name, text } of sets) {
    test(`the output equals that of iprange --optimize: ${name}`, () => {
      assert.equal(bareHosts(plain(text)), iprange(text, '--optimize'));
    });
  }

  test('plain is read by iprange: the same networks, and as many addresses as the rules name', () => {
    const text = networkText(mixedV4, random, 5000);
    const feed = plain(text);
    assert.equal(iprange(feed), bareHosts(feed));
    // Lines and addresses, after the name of the file.
    assert.equal(iprange(feed, '--count-unique').split(',').at(-1), iprange(text, '--count-unique').split(',').at(-1));
    assert.equal(iprange(feed, '--count-unique').split(',').at(-2), String(feed.split('\n').length - 1));
  });
});
