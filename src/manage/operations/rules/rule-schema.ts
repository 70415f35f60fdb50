import type { TSchema } from 'typebox';
import { answerOf, exampleOf, type Fields, nullable, type Static, Type, wordField } from '../../../json/schema.ts';
import { KINDS, type Kind, LEVELS, type Level, RULE_TYPES, readLabel } from '../../../rule.ts';
import { targetNamed } from '../../../signal/target.ts';
import { readSince, readUntil } from '../../../text/duration.ts';
import { knownBatch } from '../../batches.ts';
import type { ManageContext } from '../../context.ts';
import { findKeyNamed, findList } from '../../find.ts';
import { fieldFault } from '../../operation.ts';
import type { RuleConditions } from '../../rules/rule-search.ts';

const text = nullable(Type.String());
const object = Type.Unsafe<object | null>({ type: ['object', 'null'] });
const instant = '2026-11-20T10:00:00.000Z';

export const RULE = {
  id: 7,
  kind: ['access_rule', Type.Enum([...KINDS])],
  rule_ref: [null, text],
  name: [null, text],
  list_id: [
    '0195a3c0-0000-7000-8000-000000000001',
    Type.Optional(Type.String({ format: 'uuid', description: 'Access rules only, like the next three.' })),
  ],
  target: ['192.0.2.0/24', Type.Optional(Type.String({ description: 'A network, AS and a number, or a country.' }))],
  confidence: ['high', Type.Optional(text)],
  severity: [null, Type.Optional(text)],
  type: [undefined, wordField(RULE_TYPES, 'Expression rules only, like the next three.')],
  expression: [undefined, Type.Optional(Type.String())],
  order: [undefined, Type.Optional(Type.Unsafe<number | null>({ type: ['integer', 'null'] }))],
  short_description: [undefined, Type.Optional(text)],
  action: 'block',
  reason: ['scanner', text],
  labels: [{ source: 'soc' }, object],
  config: [null, object],
  expires_at: [null, nullable(Type.String({ format: 'date-time' }))],
  created_at: instant,
  updated_at: instant,
  batch_id: [
    '0199f3c2-8a51-7c3e-9d0b-4f1e2a6b7000',
    nullable(Type.String({ description: 'The batch of the last write, sent with key_id; null: unknown.' })),
  ],
  key_id: ['0195a3c0-0000-7000-8000-000000000002', text],
  key_name: [undefined, Type.Optional(nullable(Type.String({ description: 'The name of the key, or of the source; null: deleted.' })))],
  actor: [undefined, Type.Optional(Type.String({ description: 'The named person, or the system user of a command.' }))],
  person: [undefined, Type.Optional(Type.String({ description: 'The provider and its id of the person.' }))],
  repeated: [undefined, Type.Optional(Type.String({ description: 'Why a block lasts longer than sent (repeat of its list).' }))],
  warning: [undefined, Type.Optional(Type.String({ description: 'Parts that agents silently ignore.' }))],
} as const satisfies Fields;
export const RULE_EXAMPLE = exampleOf(RULE);
export const Rule = answerOf('Rule', RULE);

const MATCHES = ['exact', 'covering', 'covered'] as const;
const TARGET_KINDS = ['ip', 'asn', 'country'] as const;
const words = (allowed: readonly string[], description?: string): TSchema =>
  Type.Unsafe<string>({ type: 'string', enum: [...allowed], ...(description !== undefined && { description }) });
const short = (description: string) => Type.String({ maxLength: 2048, description });
const time = (description: string) => Type.String({ maxLength: 40, description: `${description} An instant (ISO 8601).` });

/** All have to match. */
export const CONDITIONS = {
  kind: Type.Optional(words(KINDS, 'Default: access_rule.')),
  list: Type.Optional(short('UUID or name of the list; access rules only, like the next seven.')),
  address: Type.Optional(short('The target: an address, a network, an ASN such as AS64500, or a country such as NL.')),
  match: Type.Optional(words(MATCHES, 'How address matches: exactly (default), networks around it, or networks inside it.')),
  wider: Type.Optional(short('Networks with a shorter prefix than this, such as /16; IPv4 and IPv6.')),
  target_kind: Type.Optional(words(TARGET_KINDS)),
  confidence: Type.Optional(words(LEVELS)),
  severity: Type.Optional(words(LEVELS)),
  type: Type.Optional(words(RULE_TYPES, 'Expression rules only: custom, or generated (AI).')),
  action: Type.Optional(short('block, allow, …')),
  label: Type.Optional(short('name:value; several, one a line, must all match.')),
  reason: Type.Optional(short('The exact reason.')),
  reason_contains: Type.Optional(short('A part of the reason; case-insensitive.')),
  batch: Type.Optional(short('Last written by this batch.')),
  key: Type.Optional(short('Last written by this key: id or name.')),
  person: Type.Optional(short('Last written by this person: name, or PROVIDER:SUBJECT.')),
  since: Type.Optional(time('Created or changed since then. Also an age such as 2h.')),
  expires_before: Type.Optional(time('Expiring before then. Also a duration from now such as 7d.')),
  expires_from: Type.Optional(time('Expiring then or later, or never. Also a duration from now.')),
};
const Conditions = Type.Object(CONDITIONS);

/** Rejects with USAGE and NOT_FOUND. */
export async function readConditions(context: ManageContext, given: Static<typeof Conditions>): Promise<RuleConditions> {
  const { store, workspaceId } = context;
  const { kind = 'access_rule', list, label, since, key, batch, expires_before: before, expires_from: from } = given;
  const conditions: RuleConditions = {
    kind: kind as Kind,
    match: matchOf(given, context.isCountry),
    widerThan: given.wider === undefined ? undefined : prefixOf(given.wider),
    targetKind: given.target_kind as RuleConditions['targetKind'],
    confidence: given.confidence as Level | undefined,
    severity: given.severity as Level | undefined,
    type: given.type as RuleConditions['type'],
    action: given.action,
    labels: label?.split('\n').map(labelOf),
    reason: given.reason,
    reasonContains: given.reason_contains?.toLowerCase(),
    // Must be an error if unknown: an empty result would look like an all-clear.
    batch: batch === undefined ? undefined : (await knownBatch(store, workspaceId, batch.toLowerCase())).id,
    key: key === undefined ? undefined : (await findKeyNamed(store, workspaceId, key)).id,
    person: given.person,
    since: since === undefined ? undefined : instantOf('since', readSince(since, context.now())),
    expiresBefore: before === undefined ? undefined : instantOf('expires_before', readUntil(before, context.now())),
    expiresFrom: from === undefined ? undefined : instantOf('expires_from', readUntil(from, context.now())),
  };
  for (const field of kind === 'access_rule' ? OF_EXPRESSIONS : OF_TARGETS) {
    if (given[field] !== undefined) throw fieldFault(field, `is for ${kind === 'access_rule' ? 'expression' : 'access'} rules only`);
  }
  if (list === undefined) return conditions;
  return { ...conditions, listId: (await findList(context.store, context.workspaceId, list)).id };
}

const OF_EXPRESSIONS = ['type'] as const;
const OF_TARGETS = ['list', 'address', 'match', 'wider', 'target_kind', 'confidence', 'severity'] as const;

function matchOf({ address, match: given }: Static<typeof Conditions>, isCountry: ManageContext['isCountry']): RuleConditions['match'] {
  // It would select every rule.
  if (address === undefined && given !== undefined) throw fieldFault('match', 'requires address');
  if (address === undefined) return undefined;
  const match = given ?? 'exact';
  const target = targetNamed(address, isCountry);
  if (typeof target === 'string') throw fieldFault('address', target);
  if (match === 'exact') return { how: 'exact', target };
  if (target.kind !== 'ip') throw fieldFault('match', `${match} requires an address or a network`);
  return { how: match as 'covering' | 'covered', network: target.network };
}

function prefixOf(text: string): number {
  const [, digits] = /^\/?(\d{1,3})$/.exec(text) ?? [];
  if (digits === undefined || Number(digits) > 128) throw fieldFault('wider', 'must be a prefix length such as /16');
  return Number(digits);
}

export function labelOf(text: string): [string, string] {
  const label = readLabel(text);
  if (label === undefined) throw fieldFault('label', 'must be name:value');
  return label;
}

function instantOf(field: string, at: number | undefined): number {
  if (at === undefined) throw fieldFault(field, 'must be an instant such as 2026-11-22T08:00:00Z, or a duration such as 2h');
  return at;
}
