import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EntryScanner, type EntrySpan } from './scan.ts';

/** Scans a text in pieces of at most `size` bytes. */
function scan(text: string | Uint8Array, size = 7, maxEntries?: number) {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  const scanner = new EntryScanner(maxEntries);
  const spans: EntrySpan[] = [];
  for (let at = 0; at < bytes.length; at += size) spans.push(...scanner.push(bytes.subarray(at, at + size)));
  spans.push(...scanner.end());
  return { scanner, spans, texts: spans.map(({ start, end }) => Buffer.from(bytes.subarray(start, end)).toString()) };
}

/** What JSON.parse says of the same bytes, in UTF-8 without replacement. */
function parse(bytes: Uint8Array): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) };
  } catch {
    return undefined;
  }
}

test('finds the entries with their size and depth', () => {
  const { scanner, spans, texts } = scan(' [ {"a": [1, {}]} ,-1.5e+3,"x\\u00e9\\ud83d\\ude00\\n]", null,[ ]\n] ');
  assert.deepEqual([scanner.fault, scanner.isArray, scanner.count, scanner.open], [undefined, true, 5, undefined]);
  assert.deepEqual(texts, ['{"a": [1, {}]}', '-1.5e+3', '"x\\u00e9\\ud83d\\ude00\\n]"', 'null', '[ ]']);
  assert.deepEqual(
    spans.map(({ size, depth, isObject }) => [size, depth, isObject]),
    [
      [12, 3, true],
      [7, 0, false],
      [Buffer.byteLength('"xé😀\\n]"'), 0, false],
      [4, 0, false],
      [2, 1, false],
    ],
  );
});

test('the size is that of the compact JSON in UTF-8, however it was written', () => {
  const entry = { a: 'ä😀\n"', b: [1, { c: null }], ключ: ['中文', true] };
  const compact = Buffer.byteLength(JSON.stringify(entry));
  const ascii = JSON.stringify(entry, null, 4).replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  for (const text of [JSON.stringify([entry]), JSON.stringify([entry], null, 8), `[${ascii}]`])
    assert.equal(scan(text).spans[0]!.size, compact, text);
});

test('another value than an array is its own only entry', () => {
  for (const text of ['{"a":[1]}', '"x"', ' null ', '7', '-0.5', 'true']) {
    const { scanner, texts } = scan(text, 1);
    assert.deepEqual([scanner.fault, scanner.isArray, scanner.count, texts], [undefined, false, 1, [text.trim()]]);
  }
});

test('D3.1 what is no JSON in UTF-8 is told by the first byte that does not fit; a byte order mark is ignored', () => {
  const faults: [string | Uint8Array, string][] = [
    ['', 'must be valid JSON: it ends too early'],
    ['[1,2', 'must be valid JSON: it ends too early'],
    ['[1,]', 'must be valid JSON: unexpected character ] at byte 3'],
    ['[{"a":1]', 'must be valid JSON: unexpected character ] at byte 7'],
    ['[01]', 'must be valid JSON: unexpected character 1 at byte 2'],
    ['["a\nb"]', 'must be valid JSON: unexpected byte 0x0a at byte 3'],
    ['[] x', 'must be valid JSON: unexpected character x at byte 3'],
    [Buffer.from('["\xe4"]', 'latin1'), 'must be JSON in UTF-8'],
    [Buffer.from([0x5b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x5d]), 'must be JSON in UTF-8'],
  ];
  for (const [text, fault] of faults) for (const size of [1, 64]) assert.equal(scan(text, size).scanner.fault, fault);
  assert.deepEqual(scan('\ufeff[1]').texts, ['1']);
  assert.notEqual(scan('\ufeff\ufeff[1]').scanner.fault, undefined);
});

test('millions of brackets or of empty entries cost one pass over the bytes', () => {
  const bytes = 3 * 1024 * 1024;
  const open = scan(Buffer.alloc(bytes, '['), 65_536);
  assert.deepEqual([open.scanner.fault, open.spans.length], ['must be valid JSON: it ends too early', 0]);
  assert.deepEqual(open.scanner.open, { start: 1, size: bytes - 1 });
  const closed = scan(Buffer.concat([Buffer.alloc(bytes / 2, '['), Buffer.alloc(bytes / 2, ']')]), 65_536);
  assert.deepEqual([closed.scanner.fault, closed.spans[0]!.depth], [undefined, bytes / 2 - 1]);
  const many = scan(`[${'{},'.repeat(bytes / 3 - 2)}{}]`, 65_536, 1000);
  assert.deepEqual([many.scanner.fault, many.spans.length], [undefined, 1000]);
  assert(many.scanner.count > 1_000_000);
});

test('property: agrees with JSON.parse on any bytes, in pieces of any size', () => {
  const number = fc.constantFrom('0', '-0', '1e5', '1E-07', '-12.50', '0.1e+1', '123456789012345678901', '1e400');
  const text = fc
    .array(
      fc.oneof(
        fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value)),
        fc.json().map((json) => ` ${json}\n`),
        number,
      ),
      { maxLength: 5 },
    )
    .map((entries) => `[${entries.join(',')}]`);
  const edit = fc.record({
    at: fc.nat(),
    byte: fc.oneof(fc.integer({ min: 0, max: 255 }), fc.constantFrom(...Buffer.from('[]{}",:\\u0eE+-. \ntn'))),
  });
  const edited = fc.tuple(text, fc.array(edit, { maxLength: 2 }), fc.boolean()).map(([whole, edits, insert]) => {
    const bytes = [...Buffer.from(whole)];
    for (const { at, byte } of edits) bytes.splice(at % bytes.length, insert ? 0 : 1, byte);
    return Uint8Array.from(bytes);
  });
  fc.assert(
    fc.property(edited, fc.integer({ min: 1, max: 9 }), (bytes, size) => {
      const expected = parse(bytes);
      const { scanner, texts } = scan(bytes, size);
      assert.equal(scanner.fault === undefined, expected !== undefined, scanner.fault);
      if (expected === undefined) return;
      assert.equal(scanner.isArray, Array.isArray(expected.value));
      if (scanner.isArray)
        assert.deepEqual(
          texts.map((entry) => JSON.parse(entry)),
          expected.value,
        );
    }),
    { seed: 11, numRuns: 5000 },
  );
});
