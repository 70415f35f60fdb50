/** What holds for batches of signals, whatever the text. */
import assert from 'node:assert/strict';
import { packagedSchemes } from '../../packages/expression/scheme.ts';
import { validateBatch } from '../../src/signal/batch.ts';
import { decodeSignalRecord } from '../../src/signal/message/decode.ts';
import { encodeMessage } from '../../src/signal/message/encode.ts';

const RECEIVED = 1_800_000_000_250;
const CHECK = {
  hasAsn: (asn: number) => asn < 70_000,
  isCountry: (code: string) => code < 'X',
  schemes: packagedSchemes(),
  listBound: false,
  receivedAt: RECEIVED,
};
const CONTEXT = { organizationId: 'o', workspaceId: 'w', listId: 'l', receivedAt: RECEIVED, signalId: 's' };

/**
 * A batch in both versions: each entry is accepted or has one sentence of its own, in the order of the entries, or the whole is refused for faults
 * that are named. What is accepted lands.
 */
export function oneBatch(text: string): void {
  for (const version of [1, 2] as const) {
    const result = validateBatch(version, text, CHECK);
    if (result.refused !== undefined) {
      assert.ok(result.refused.length >= 1 && result.refused.length <= 100);
      for (const { field, message } of result.refused) assert.ok(field && message, 'a refusal says why');
      continue;
    }
    const { accepted, errors } = result;
    const { length } = JSON.parse(text.replace(/^\ufeff/, '')) as unknown[];
    assert.equal(accepted.length + errors.length, length, 'each entry has its answer');
    const entries = errors.map((error) => Number(/^Entry (\d+): (?:Schema|Expression) validation failed: \S/.exec(error)?.[1]));
    assert.ok(
      entries.every((entry, i) => entry < length && (i === 0 || entry > entries[i - 1])),
      String(errors),
    );
    for (const error of errors) assert.doesNotMatch(error, /: undefined(;|$)/);
    for (const signal of accepted) {
      const landed = decodeSignalRecord({ ...encodeMessage(signal, CONTEXT), offset: 0, timestamp: 0 });
      assert.ok(!('poison' in landed), JSON.stringify(landed));
    }
  }
}

/** Batches that are taken, one of each kind and all of them together. */
export const BATCHES: readonly string[] = [
  '{"type":"access_rules","action":"block","ip":"203.0.113.7","expiration":3600,"description":"d","name":"n"}',
  '{"type":"access_rules","action":"unblock","asn":"AS13335","expires_at":"2027-01-31T12:00:00Z"}',
  '{"schema_version":2,"kind":"access_rule","op":"upsert","rule_ref":"r-1","expires_in":60,"reason":"r","labels":{"a":[1]},"rule":{"target":{"country":"NL"},"action":"allow","config":{"confidence":"LOW","severity":"high"}}}',
  '{"kind":"access_rule","op":"delete","rule":{"target":{"ip":"2001:db8::/32"}}}',
  '{"kind":"waf_rule","op":"upsert","rule_ref":"w","rule":{"type":"custom","expression":"http.request.method eq \\"GET\\"","action":"block","order":1,"phase":"request","short_description":"s","config":{"phase":"x"}}}',
  '{"kind":"smart_firewall_rule","op":"delete","rule_ref":"s"}',
]
  .flatMap((entry, _, all) => [[entry], all])
  .map((entries) => `[${entries.join(',')}]`);

/** What an entry is read for, and what answers are made of. */
export const BATCH_WORDS: readonly string[] = [
  ...[...new Set(BATCHES.join().match(/"[a-z_0-9-]+"/gi))],
  ...['null', 'true', '[]', '{}', ',', ':', '1e400', '12345678901234567890', '"__proto__"', '"\\u0000"', '"\\ud800"', '"2027-02-30"'],
  ...['field', 'entry', 'message', 'isExpression', 'faults', 'expression', 'version', 'value', 'index', 'refused'].map(
    (word) => `"${word}":`,
  ),
];
