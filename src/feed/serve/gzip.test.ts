import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32, gunzipSync } from 'node:zlib';
import { joinedCrc } from './crc.ts';
import { gzipBody } from './gzip.ts';

const textOf = (length: number, octet = 10) =>
  Buffer.from(
    Array.from({ length: length / 10 }, (_, i) => `${octet}.${i % 250}.0.0/`)
      .join('')
      .slice(0, length),
  );

test('D5.10 compressed bytes depend on the input, its parts and the level only', async () => {
  for (const length of [0, 1, 1_000, 100_000, 3_000_000]) {
    const identity = textOf(length);
    const { bytes } = await gzipBody(identity);
    assert.deepEqual(bytes, (await gzipBody(identity)).bytes);
    assert.ok(gunzipSync(bytes).equals(identity));
    assert.equal(bytes.buffer.byteLength, bytes.length, 'nothing is kept besides the bytes');
  }
});

test('D5.10 parts that were in the body before are copied: the bytes are those of a body that was compressed anew', async () => {
  const [a, b, c, d] = [10, 11, 12, 13].map((octet, i) => textOf(40_000 + 1_000 * i, octet));
  const bodyOf = (pieces: Buffer[]) => {
    let to = 0;
    const parts = pieces.map((part) => {
      to += part.length;
      return { to, name: part === d ? undefined : String(part[1]) };
    });
    return { identity: Buffer.concat(pieces), parts };
  };
  let before: Awaited<ReturnType<typeof gzipBody>> | undefined;
  for (const pieces of [[a, b, c], [a, c, d], [d, a], [b, c, a, d], [], [b]]) {
    const { identity, parts } = bodyOf(pieces);
    const known = before;
    before = await gzipBody(identity, parts, known);
    assert.equal(Buffer.compare(before.bytes, (await gzipBody(identity, parts)).bytes), 0);
    assert.ok(gunzipSync(before.bytes).equals(identity));
  }
});

test('the CRC of parts is that of the whole', () => {
  const whole = textOf(70_000);
  for (const at of [0, 1, 7, 4_096, 65_537, 70_000]) {
    const [first, second] = [whole.subarray(0, at), whole.subarray(at)];
    assert.equal(joinedCrc(crc32(first), crc32(second), second.length), crc32(whole));
  }
});
