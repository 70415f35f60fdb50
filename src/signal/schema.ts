import type { TObject, TObjectOptions, TSchema } from 'typebox';
import { type Static, Type } from '../json/schema.ts';
import {
  ACCESS_ACTIONS,
  EXPRESSION_KINDS,
  type ExpressionKind,
  type JsonObject,
  KINDS,
  type Kind,
  LEVELS,
  perKind,
  RULE_KINDS,
  RULE_TYPES,
} from '../rule.ts';
import { inWords } from '../text/duration.ts';
import { DEFAULT_EXPIRY, LEAST_EXPIRY } from './expiry.ts';
import { LIMITS, RULE_REF_PATTERN } from './limits.ts';

/**
 * JSON Schemas of client input, for validation and API documents. They describe normalized entries (normalize.ts): without nulls, case
 * folded.
 */

const text = (maxLength: number, description: string, options: object = {}) =>
  Type.String({ maxLength, format: 'text', description, ...options });
const freeForm = (maxBytes: number, description: string, options: object = {}) =>
  Type.Unsafe<JsonObject>({
    type: 'object',
    'x-json': { maxBytes, maxDepth: LIMITS.jsonDepth },
    description,
    ...options,
  });
const DEFAULT_WORDS = inWords(DEFAULT_EXPIRY * 1000);
const seconds = (description: string) => Type.Integer({ minimum: 0, maximum: LIMITS.expirySeconds, description, examples: [3600] });

const instant = (duration: string) =>
  Type.String({
    description: `The same as an instant in ISO 8601, in place of ${duration}: the rule expires at exactly this second.`,
    examples: ['2027-01-31T12:00:00Z'],
  });

const targetFields = {
  ip: Type.Optional(
    Type.String({ description: 'IPv4 or IPv6 address, CIDR notation accepted; host bits are masked off.', examples: ['203.0.113.7'] }),
  ),
  asn: Type.Optional(Type.String({ description: 'AS and a number that exists in the ASN data, any letter case.', examples: ['AS13335'] })),
  country: Type.Optional(Type.String({ description: 'ISO-3166 Alpha-2 code, any letter case.', examples: ['NL'] })),
};

/** Entry of `POST /v1/signal` (spec 2.1). */
export const V1Event = Type.Object(
  {
    type: Type.Enum(['access_rules'], { description: 'The only kind of v1.' }),
    action: Type.Enum(['block', 'unblock'], { description: 'Create the rule, or remove every rule that blocks this value.' }),
    ...targetFields,
    expiration: Type.Optional(
      seconds(
        `Seconds until the block ends; 0 or omitted means ${DEFAULT_WORDS}, 1 to ${LEAST_EXPIRY - 1} mean ${LEAST_EXPIRY}. Ignored on unblock.`,
      ),
    ),
    description: Type.Optional(text(LIMITS.text, 'Free text describing the signal.')),
    name: Type.Optional(text(LIMITS.name, 'Name identifier of the signal.')),
    expires_at: Type.Optional(instant('expiration')),
  },
  {
    title: 'V1Event',
    description: 'A flat access-rule event. Exactly one of ip, asn, country is present and not empty; null is the same as absent.',
    examples: [{ type: 'access_rules', action: 'block', ip: '203.0.113.7', expiration: 3600, description: 'port scan' }],
  },
);

const AccessRuleBody = Type.Object(
  {
    target: Type.Object(targetFields, { description: 'Exactly one of ip, asn, country.' }),
    action: Type.Optional(
      Type.Enum([...ACCESS_ACTIONS], {
        default: 'block',
        description: 'block, or allow for the never-block list; omitted means block. Any letter case, stored lowercase.',
      }),
    ),
    config: Type.Optional(
      Type.Unsafe<JsonObject & { confidence?: (typeof LEVELS)[number]; severity?: (typeof LEVELS)[number] }>({
        ...freeForm(LIMITS.configBytes, 'Free-form configuration; confidence and severity appear in csv_indicator feeds, any letter case.'),
        properties: { confidence: { type: 'string', enum: [...LEVELS] }, severity: { type: 'string', enum: [...LEVELS] } },
      }),
    ),
  },
  { title: 'AccessRuleBody', examples: [{ target: { ip: '203.0.113.0/24' }, action: 'block', config: { confidence: 'high' } }] },
);

/** Rule body of expression kinds (spec 2.4). `phase` only for kinds with phases. */
const expressionFields = (kind: ExpressionKind) => ({
  name: Type.Optional(text(LIMITS.name, 'Rule name.')),
  type: Type.Enum([...RULE_TYPES], {
    description: 'custom: written by a person or a playbook. generated: produced by a classifier. Any letter case, stored lowercase.',
  }),
  expression: text(LIMITS.expression, 'Filter expression, checked against the fields of the kind.', {
    minLength: 1,
    examples: [RULE_KINDS[kind].example.expression],
  }),
  action: Type.Enum<string[]>([...RULE_KINDS[kind].actions], { description: 'Any letter case, stored lowercase.' }),
  order: Type.Optional(
    Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER, description: 'Rule ordering value.' }),
  ),
  short_description: Type.Optional(text(LIMITS.text, 'Short text.')),
  config: Type.Optional(freeForm(LIMITS.configBytes, 'Free-form rule configuration.', { examples: [{ sensitivity: 'high' }] })),
  phase: Type.Optional(
    Type.Enum(['request', 'response'], {
      description: 'When omitted, the enforcement engine detects it from the expression. Stored in config.phase. Any letter case.',
    }),
  ),
});

/** All fields of expression kinds, even ones not allowed for a kind: needed to refuse them. */
export const EXPRESSION_FIELDS = Object.keys(expressionFields(EXPRESSION_KINDS[0]));

type ExpressionFields = ReturnType<typeof expressionFields>;

function expressionBody(kind: ExpressionKind): TObject<ExpressionFields> | TObject<Omit<ExpressionFields, 'phase'>> {
  const { phase, ...fields } = expressionFields(kind);
  const { example, hasPhase } = RULE_KINDS[kind];
  const { ruleRef: _, ...rule } = example;
  const options = { title: `${titleOf(kind)}Body`, examples: [rule] };
  return hasPhase ? Type.Object({ ...fields, phase }, options) : Type.Object(fields, options);
}

/** `waf_rule` → `WafRule`, for the API documents. */
const titleOf = (kind: Kind) => kind.replace(/(^|_)([a-z])/g, (_all, _start, letter: string) => letter.toUpperCase());

const RuleRef = Type.String({
  pattern: RULE_REF_PATTERN,
  description: 'Caller-stable identifier, the key of upsert and delete. An access rule without it is matched by value.',
  examples: ['soc-1234'],
});
const RULE_ON_UPSERT = {
  if: { type: 'object', properties: { op: { const: 'upsert' } }, required: ['op'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { type: 'object', required: ['rule'] },
};

const envelope = <K extends Kind, I extends TSchema, R extends TSchema>(
  kinds: readonly K[],
  ruleRef: I,
  rule: R,
  options: TObjectOptions,
) =>
  Type.Object(
    {
      schema_version: Type.Optional(Type.Unsafe<2>({ const: 2, default: 2, description: 'Version of the envelope.' })),
      kind: Type.Enum([...kinds]),
      op: Type.Enum(['upsert', 'delete'], { description: 'upsert replaces the whole rule; deleting a missing rule succeeds.' }),
      rule_ref: ruleRef,
      expires_in: Type.Optional(
        seconds(
          `Seconds. 0 or omitted means no expiry, for a block of an access rule ${DEFAULT_WORDS}; access rules live at least ${LEAST_EXPIRY}. Ignored on delete.`,
        ),
      ),
      expires_at: Type.Optional(instant('expires_in')),
      reason: Type.Optional(text(LIMITS.text, 'Free text.')),
      labels: Type.Optional(freeForm(LIMITS.labelsBytes, 'Structured metadata.', { examples: [{ source: 'honeypot', score: 7 }] })),
      rule: Type.Optional(rule),
    },
    options,
  );

const envelopeOptions = (kind: Kind, example: object) => ({
  ...RULE_ON_UPSERT,
  title: `${titleOf(kind)}Envelope`,
  examples: [{ kind, op: 'upsert', ...example }],
});

function expressionEnvelope(kind: ExpressionKind) {
  const { ruleRef, type, expression, action } = RULE_KINDS[kind].example;
  return envelope([kind], RuleRef, expressionBody(kind), envelopeOptions(kind, { rule_ref: ruleRef, rule: { type, expression, action } }));
}

/** Entries of `POST /v2/signal` by kind (spec 2.2). */
export const ENVELOPES = {
  access_rule: envelope(
    ['access_rule'],
    Type.Optional(RuleRef),
    AccessRuleBody,
    envelopeOptions('access_rule', { rule_ref: 'soc-1234', expires_in: 3600, rule: { target: { ip: '203.0.113.7' }, action: 'block' } }),
  ),
  ...perKind(EXPRESSION_KINDS, expressionEnvelope),
};
export const AnyEnvelope = envelope(KINDS, Type.Optional(RuleRef), Type.Unknown(), {});

export type V1Event = Static<typeof V1Event>;
export type AccessRuleEnvelope = Static<(typeof ENVELOPES)['access_rule']>;
export type ExpressionEnvelope = Static<(typeof ENVELOPES)[ExpressionKind]>;
export type Envelope = AccessRuleEnvelope | ExpressionEnvelope;

/** An accepted entry in stream form: v1 as sent, v2 normalized. `hasEnd`: its expiry was given as an instant. */
export type Signal = ({ readonly version: 1; readonly event: V1Event } | { readonly version: 2; readonly envelope: Envelope }) & {
  readonly hasEnd?: true;
};
