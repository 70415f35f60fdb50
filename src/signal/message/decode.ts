import { validate as isUuid } from 'uuid';
import { parsedJson } from '../../json/json.ts';
import { nullable, Type } from '../../json/schema.ts';
import type { LandingItem } from '../../ports/landing.ts';
import type { StreamRecord } from '../../ports/stream.ts';
import {
  ACCESS_ACTIONS,
  type ExpressionKind,
  isExpressionKind,
  type JsonObject,
  KINDS,
  type Kind,
  LEVELS,
  RULE_TYPES,
  type RuleChange,
  type RuleOperation,
  type Target,
} from '../../rule.ts';
import { expiresAt, lifetime } from '../expiry.ts';
import { ACCEPTANCE, LIMITS, RULE_REF_PATTERN } from '../limits.ts';
import { isObject, normalizeEnvelope, normalizeEvent } from '../normalize.ts';
import { isStorableText } from '../storable-text.ts';
import { readTarget, TARGET_FIELDS, type WireTarget } from '../target.ts';
import { reader } from '../validate.ts';
import { OPERATION_RULES } from './encode.ts';
import { batchReader } from './signal-id.ts';

type Landed = Omit<LandingItem, 'record'>;
interface Poison {
  readonly poison: string;
  /** The exception, if it is a defect of weir. */
  readonly defect?: unknown;
}

/**
 * Decodes a stream record. Checks only its shape: geo data, limits and schemes may have changed since acceptance. Other producers may omit
 * all headers except the workspace. Never throws: later records must land. Share one header reader for many records.
 */
export function decodeSignalRecord(record: StreamRecord, headers = headerReader()): Landed | Poison {
  try {
    return decodeRecord(record, headers);
  } catch (defect) {
    return { poison: `weir failed to decode it: ${defect}`, defect };
  }
}

function decodeRecord(record: StreamRecord, { instantOf, keyOf, batchOf }: HeaderReader): Landed | Poison {
  const { schema_version: version = '1', workspace_id: workspaceId, list_id: listId = null, received_at: received } = record.headers;
  const {
    signal_id: signalId,
    key_id: keyId = null,
    source_id: sourceId,
    actor,
    person,
    via,
    ends,
    organization_id: organization,
  } = record.headers;
  const decode = Object.hasOwn(DECODERS, version) ? DECODERS[version] : undefined;
  if (decode === undefined) return { poison: `unknown schema_version ${JSON.stringify(version.slice(0, 40))}` };
  if (!workspaceId || !isStorableText(workspaceId)) return { poison: 'no header workspace_id' };
  const receivedAt = received === undefined ? record.timestamp : instantOf(received);
  if (received !== undefined && Number.isNaN(receivedAt)) return { poison: 'header received_at is not an ISO 8601 instant' };
  if (!Number.isInteger(receivedAt) || receivedAt < ACCEPTANCE.first || receivedAt > ACCEPTANCE.last) {
    const source = received === undefined ? "the record's timestamp" : 'header received_at';
    return { poison: `${source} is not an instant of the years 2000 to 2199 (milliseconds since 1970: ${receivedAt})` };
  }
  const value = parsedJson(record.value);
  if (!isObject(value)) return { poison: 'the value is not a JSON object' };
  const change = decode(value, receivedAt);
  if (typeof change === 'string') return { poison: change };
  return {
    workspaceId,
    listId,
    receivedAt,
    batchId: batchOf(signalId),
    keyId: keyOf(keyId),
    ...(isShort(actor) && { actor }),
    ...(isShort(person) && { personId: person }),
    ...(sourceId !== undefined && { sourceId }),
    ...(via === 'management' && { isManaged: true as const }),
    ...(organization === undefined && { isForeign: true as const }),
    ...(ends === 'fixed' && { hasEnd: true as const }),
    change,
  };
}

const isShort = (text: string | undefined): text is string => text !== undefined && text.length <= LONGEST_NAME && isStorableText(text);
const LONGEST_NAME = 320;

type Decoder = (value: Record<string, unknown>, receivedAt: number) => RuleChange | RuleOperation | string;
const DECODERS: Record<string, Decoder> = { '1': decodeEvent, '2': decodeEnvelope };

/** Never accepted, and dangerous to serialize. */
const MAX_DEPTH = 64;

const text = Type.String({ format: 'text' });
const json = Type.Unsafe<JsonObject>({ type: 'object', 'x-json': { maxDepth: MAX_DEPTH } });
const seconds = Type.Integer({ minimum: 0, maximum: LIMITS.expirySeconds });
const ref = Type.String({ pattern: RULE_REF_PATTERN });
const op = Type.Enum(['upsert', 'delete']);
const target = Type.Object({ ip: Type.Optional(text), asn: Type.Optional(text), country: Type.Optional(text) });

const EventShape = Type.Object({
  type: Type.Enum(['access_rules']),
  action: Type.Enum(['block', 'unblock']),
  ...target.properties,
  expiration: Type.Optional(seconds),
  description: Type.Optional(text),
  name: Type.Optional(text),
});
const envelopeFields = {
  op,
  expires_in: Type.Optional(seconds),
  reason: Type.Optional(text),
  labels: Type.Optional(json),
};
const AccessShape = Type.Object({
  ...envelopeFields,
  rule_ref: Type.Optional(ref),
  rule: Type.Optional(Type.Object({ target, action: Type.Enum([...ACCESS_ACTIONS]), config: Type.Optional(json) })),
});
const ExpressionShape = Type.Object({
  ...envelopeFields,
  rule_ref: ref,
  rule: Type.Optional(
    Type.Object({
      name: Type.Optional(text),
      type: Type.Enum([...RULE_TYPES]),
      expression: text,
      action: text,
      phase: Type.Optional(text),
      order: Type.Optional(Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER })),
      short_description: Type.Optional(text),
      config: Type.Optional(json),
    }),
  ),
});

const ruleId = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const rule_ids = Type.Array(ruleId, { maxItems: OPERATION_RULES });
const SetRulesShape = Type.Object({ rule_ids, expires_at: Type.Optional(nullable(ruleId)), reason: Type.Optional(nullable(text)) });

const readEvent = reader(EventShape, (event, receivedAt: number): RuleChange | string => {
  const target = decodeTarget(event);
  if (typeof target === 'string') return target;
  if (event.action === 'unblock') return { change: 'delete_by_value', kind: 'access_rule', action: 'block', target };
  return {
    change: 'upsert',
    kind: 'access_rule',
    rule: {
      ruleRef: null,
      action: 'block',
      target,
      name: event.name ?? null,
      reason: event.description ?? null,
      labels: null,
      config: null,
      confidence: null,
      severity: null,
      expiresAt: expiresAt(receivedAt, lifetime('access_rule', 'block', event.expiration)),
    },
  };
});

function decodeEvent(value: Record<string, unknown>, receivedAt: number): RuleChange | string {
  return readEvent(normalizeEvent(value), receivedAt);
}

function decodeEnvelope(value: Record<string, unknown>, receivedAt: number): RuleChange | RuleOperation | string {
  if (value.kind === 'batch') return decodeUndo(value);
  const envelope = normalizeEnvelope(value);
  const kind = KINDS.find((known) => known === envelope.kind);
  if (kind === undefined) return `kind: must be one of: ${KINDS.join(', ')}`;
  if (value.op === 'delete_rules') return decodeDeleteRules(value, kind);
  if (value.op === 'set_rules') return decodeSetRules(value, kind);
  return isExpressionKind(kind) ? decodeExpressionRule(envelope, kind, receivedAt) : decodeAccessRule(envelope, receivedAt);
}

const decodeAccessRule = reader(AccessShape, (envelope, receivedAt: number): RuleChange | string => {
  const { rule_ref: ruleRef = null, rule } = envelope;
  if (envelope.op === 'delete' && ruleRef !== null) return { change: 'delete', kind: 'access_rule', ruleRef };
  if (rule === undefined) return 'rule: is required';
  const target = decodeTarget(rule.target);
  if (typeof target === 'string') return `rule.target.${target}`;
  const { action, config = null } = rule;
  if (envelope.op === 'delete') return { change: 'delete_by_value', kind: 'access_rule', action, target };
  return {
    change: 'upsert',
    kind: 'access_rule',
    rule: {
      ruleRef,
      action,
      target,
      name: null,
      reason: envelope.reason ?? null,
      labels: envelope.labels ?? null,
      config,
      confidence: level(config?.confidence),
      severity: level(config?.severity),
      expiresAt: expiresAt(receivedAt, lifetime('access_rule', action, envelope.expires_in)),
    },
  };
});

const decodeExpressionRule = reader(ExpressionShape, (envelope, kind: ExpressionKind, receivedAt: number): RuleChange | string => {
  const { rule_ref: ruleRef, rule } = envelope;
  if (envelope.op === 'delete') return { change: 'delete', kind, ruleRef };
  if (rule === undefined) return 'rule: is required';
  return {
    change: 'upsert',
    kind,
    rule: {
      ruleRef,
      name: rule.name ?? null,
      type: rule.type,
      expression: rule.expression,
      action: rule.action,
      order: rule.order ?? null,
      shortDescription: rule.short_description ?? null,
      config: rule.phase === undefined ? (rule.config ?? null) : { ...rule.config, phase: rule.phase },
      reason: envelope.reason ?? null,
      labels: envelope.labels ?? null,
      expiresAt: expiresAt(receivedAt, lifetime(kind, rule.action, envelope.expires_in)),
    },
  };
});

const decodeUndo = reader(
  Type.Object({ op: Type.Enum(['undo']), batch_id: text }),
  ({ batch_id: batchId }): RuleOperation => ({ change: 'undo', batchId }),
);

const decodeDeleteRules = reader(
  Type.Object({ rule_ids }),
  ({ rule_ids: ids }, kind: Kind): RuleOperation => ({ change: 'delete_rules', kind, ids }),
);

const decodeSetRules = reader(
  SetRulesShape,
  ({ rule_ids: ids, expires_at: expiresAt, reason }, kind: Kind): RuleOperation => ({ change: 'set_rules', kind, ids, expiresAt, reason }),
);

const ONE_TARGET = 'ip/asn/country: exactly one must be given';

function decodeTarget(wire: WireTarget): Target | string {
  let field: (typeof TARGET_FIELDS)[number] | undefined;
  for (const name of TARGET_FIELDS) {
    if (wire[name] === undefined) continue;
    if (field !== undefined) return ONE_TARGET;
    field = name;
  }
  if (field === undefined) return ONE_TARGET;
  const target = readTarget(field, wire[field]!);
  return typeof target === 'string' ? `${field}: ${target}` : target;
}

const level = (value: unknown) => LEVELS.find((known) => known === value) ?? null;

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

/** Caches parsed headers: consecutive records repeat them. */
export const headerReader = () => ({
  instantOf: remembered((text: string) => (INSTANT.test(text) ? Date.parse(text) : Number.NaN)),
  keyOf: remembered((text: string | null) => (isUuid(text) ? text : null)),
  batchOf: batchReader(),
});
type HeaderReader = ReturnType<typeof headerReader>;

function remembered<A, R>(make: (argument: A) => R): (argument: A) => R {
  let last: { readonly argument: A; readonly result: R } | undefined;
  return (argument) => {
    if (last === undefined || last.argument !== argument) last = { argument, result: make(argument) };
    return last.result;
  };
}
