/** Records as another producer might write them: arbitrary JSON in the places of signals, with what has gone wrong somewhere before. */
import fc from 'fast-check';
import type { StreamRecord } from '../../src/ports/stream.ts';

const KEYS = [
  'toString',
  'valueOf',
  'toJSON',
  '__proto__',
  'then',
  'constructor',
  'hasOwnProperty',
  'length',
  'phase',
  'confidence',
  '',
  '\0',
];
const TEXTS = ['', 'a', '\0', '\ud800', '\u2028', '__proto__', 'toString', '192.0.2.1', '::/0', 'AS1', 'NL', 'block', 'x'.repeat(300)];
// As JSON has them; not all survive a reader.
const NUMBERS = [
  '0',
  '-0',
  '1',
  '-1',
  '1.5',
  '59',
  '3155760000',
  '3155760001',
  '9007199254740993',
  '9223372036854775808',
  '1e400',
  '-1e400',
  '5e-324',
];

/** A JSON object's text; unlike in an object, its keys may repeat, and `__proto__` is one like any other. */
const object = (entries: readonly (readonly [string, string])[]) => `{${entries.map(([key, value]) => `${JSON.stringify(key)}:${value}`)}}`;

const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom('null', 'true', '[]', '{}', ...NUMBERS, ...TEXTS.map((text) => JSON.stringify(text))),
    fc.array(tie('json'), { maxLength: 2 }).map((items) => `[${items}]`),
    fc.array(fc.tuple(fc.constantFrom(...KEYS), tie('json')), { maxLength: 3 }).map(object),
  ),
}));

/** One of these texts, or now and then anything. */
const mostly = (...texts: readonly string[]) =>
  fc.oneof({ weight: 12, arbitrary: fc.constantFrom(...texts.map((text) => JSON.stringify(text))) }, { weight: 1, arbitrary: json });
/** An object of some of these fields. */
const some = (fields: Readonly<Record<string, fc.Arbitrary<string>>>) =>
  fc
    .tuple(
      ...Object.entries(fields).map(([name, value]) =>
        fc.option(
          value.map((text) => [name, text] as const),
          { freq: 12 },
        ),
      ),
    )
    .map((entries) => object(entries.filter((entry) => entry !== null)));
const free = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('null', '{}', '{"a":[1,-0,{"b":"c"}]}', '{"toJSON":1,"__proto__":2}') },
  { weight: 1, arbitrary: json },
);
const number = fc.oneof({ weight: 6, arbitrary: fc.constantFrom('0', '60', '3155760000') }, { weight: 1, arbitrary: json });
const words = mostly('brute force', '', '\u2028', 'x'.repeat(300));
const orAnything = (arbitrary: fc.Arbitrary<string>) => fc.oneof({ weight: 8, arbitrary }, { weight: 1, arbitrary: json });

const target = { ip: mostly('192.0.2.1', '2001:db8::/32'), asn: json, country: json };
const oneTarget = fc.oneof(
  fc.constantFrom('{"ip":"192.0.2.7"}', '{"asn":"as64500"}', '{"country":"nl"}', '{"ip":"::ffff:192.0.2.9"}'),
  some(target),
);
const event = some({
  type: mostly('access_rules'),
  action: mostly('block', 'unblock'),
  ip: mostly('192.0.2.1', '198.51.100.0/24'),
  expiration: number,
  description: words,
  name: words,
});
const envelope = some({
  schema_version: number,
  kind: mostly('access_rule', 'waf_rule', 'smart_firewall_rule'),
  op: mostly('upsert', 'delete'),
  rule_ref: mostly('a', 'b:1'),
  expires_in: number,
  reason: words,
  labels: free,
  rule: orAnything(
    some({
      target: orAnything(oneTarget),
      action: mostly('block', 'Allow'),
      config: free,
      name: words,
      type: mostly('custom', 'Generated'),
      expression: mostly('http.request.path eq "/"'),
      phase: mostly('request', 'Response'),
      order: number,
      short_description: words,
    }),
  ),
});

const SANE = Date.UTC(2026, 10, 20);
const timestamp = fc.oneof(
  { weight: 16, arbitrary: fc.constant(SANE) },
  fc.constantFrom(-1, 0, Number.NaN, SANE / 1000, SANE * 1e6, 2 ** 63, -(2 ** 63), Number.POSITIVE_INFINITY, 8.64e15, 8.64e15 + 1, 1.5),
);
const instants = [
  '2026-11-20T10:00:00.000Z',
  '9999-12-31T23:59:59Z',
  '0000-01-01T00:00:00Z',
  '1999-12-31T23:59:59Z',
  '2026-13-99T10:00:00Z',
  'now',
];
const text = fc.oneof(fc.constantFrom(...TEXTS), fc.string());

/** Records of a producer that knows the workspace. */
export const foreignRecord = (workspaceId: string): fc.Arbitrary<StreamRecord> =>
  fc.record({
    offset: fc.constant(0),
    timestamp,
    key: text,
    headers: fc
      .tuple(
        fc.record(
          {
            schema_version: fc.oneof({ weight: 8, arbitrary: fc.constantFrom('1', '2') }, { weight: 1, arbitrary: text }),
            workspace_id: fc.oneof({ weight: 12, arbitrary: fc.constant(workspaceId) }, { weight: 1, arbitrary: text }),
            list_id: text,
            received_at: fc.oneof(
              { weight: 12, arbitrary: fc.constant(instants[0]!) },
              { weight: 1, arbitrary: fc.constantFrom(...instants) },
            ),
          },
          { requiredKeys: ['workspace_id'] },
        ),
        fc.array(fc.tuple(fc.constantFrom(...KEYS), text), { maxLength: 2 }),
      )
      .map(([known, others]) => Object.fromEntries([...others, ...Object.entries(known)])),
    value: fc.oneof(
      { weight: 4, arbitrary: event },
      { weight: 8, arbitrary: envelope },
      { weight: 1, arbitrary: json },
      { weight: 1, arbitrary: text },
    ),
  });
