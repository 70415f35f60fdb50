import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readLines } from '../../../test/support/network-lines.ts';
import { coalesceV4, coalesceV6 } from '../coalesce.ts';
import { V4Ranges, V6Ranges } from '../ranges.ts';
import { renderCidrs } from '../render.ts';

/** The networks of a text, or its fault. */
function read(text: string) {
  const [v4, v6] = [new V4Ranges(), new V6Ranges()];
  const fault = readLines(new TextEncoder().encode(text), v4, v6);
  return fault ?? new TextDecoder().decode(renderCidrs(coalesceV4(v4), coalesceV6(v6), { separator: ' ' }));
}

test('D3 ip: one network a line, both families, the last line with or without its end', () => {
  assert.equal(read('2001:db8::/32\n10.0.0.1\n::ffff:10.0.0.0\n10.1.2.3/8\n'), '10.0.0.0/8 2001:db8::/32');
  assert.equal(read('10.0.0.1\n\n\n10.0.0.19'), '10.0.0.1/32 10.0.0.19/32');
  assert.equal(read('::1\n1::'), '::1/128 1::/128');
  assert.equal(read(''), '');
  assert.equal(read('\n'), '');
});

test('D3 ip: the first line with a fault is named', () => {
  assert.deepEqual(read('10.0.0.1\n\n10.0.0.01\nx\n'), { line: 3, fault: 'leading zeros are not allowed' });
  assert.deepEqual(read('10.0.0.1\r\n10.0.0.2\r\n'), { line: 1, fault: 'blanks are not allowed' });
  assert.deepEqual(read('10.0.0.1 10.0.0.2'), { line: 1, fault: 'blanks are not allowed' });
  assert.deepEqual(read('::1\n1.2.3.4/'), { line: 2, fault: 'a prefix length must follow the slash' });
  assert.deepEqual(read('10.0.\n0.1\n'), { line: 1, fault: 'is not an IP address or network' });
  assert.deepEqual(read('1:2:3:4:5:6:7:\n8\n'), { line: 1, fault: 'is not an IP address or network' });
});
