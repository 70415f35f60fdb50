import { EXPRESSION_KINDS, type JsonObject, KINDS, type Kind, perKind } from '../rule.ts';
import { AnyEnvelope, ENVELOPES, EXPRESSION_FIELDS, V1Event } from './schema.ts';
import { TARGET_FIELDS } from './target.ts';

/**
 * Normalizes entries before judging: drops unknown and ignored fields, equates null with absent, folds case. Never recurses into free-form
 * JSON.
 */

export type Fields = Record<string, unknown>;

export const EVENT_FIELDS = Object.keys(V1Event.properties);
export const ENVELOPE_FIELDS = Object.keys(AnyEnvelope.properties);
const V1_PLACES = new Map(EVENT_FIELDS.map((field, place) => [field, place]));
const PICKED = ENVELOPE_FIELDS.filter((field) => field !== 'rule' && field !== 'expires_in');
export const RULE_FIELDS: Record<Kind, readonly string[]> = {
  access_rule: Object.keys(ENVELOPES.access_rule.properties.rule.properties),
  ...perKind(EXPRESSION_KINDS, () => EXPRESSION_FIELDS),
};

export const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether normalizing would change nothing: known fields only, in order, none null. */
export function isPickedEvent(entry: Fields): boolean {
  let last = -1;
  for (const field in entry) {
    const place = V1_PLACES.get(field);
    if (place === undefined || place <= last || !present(entry[field]) || typeof entry[field] === 'object') return false;
    last = place;
  }
  return true;
}

export function normalizeEvent(entry: Fields): Fields {
  // Copying the object is much cheaper than building it by field.
  const event = isPickedEvent(entry) ? { ...entry } : pick(entry, EVENT_FIELDS);
  dropEmptyTargets(event);
  if (event.action === 'unblock') delete event.expiration;
  return event;
}

export function normalizeEnvelope(entry: Fields): Fields {
  const envelope: Fields = { schema_version: 2, ...pick(entry, PICKED) };
  const isDelete = envelope.op === 'delete';
  if (!isDelete && present(entry.expires_in)) envelope.expires_in = entry.expires_in;
  const byRef = envelope.rule_ref !== undefined || envelope.kind !== 'access_rule';
  if (present(entry.rule) && !(isDelete && byRef)) envelope.rule = normalizeRule(envelope.kind, entry.rule, isDelete);
  return envelope;
}

function normalizeRule(given: unknown, value: unknown, isDelete: boolean): unknown {
  // Unvalidated: possibly an object unusable as a key.
  const kind = KINDS.find((known) => known === given);
  if (!isObject(value) || kind === undefined) return value;
  const rule = pick(value, RULE_FIELDS[kind]);
  if (kind === 'access_rule') {
    rule.action = lower(rule.action ?? 'block');
    if (isObject(rule.target)) {
      rule.target = pick(rule.target, TARGET_FIELDS);
      dropEmptyTargets(rule.target as Fields);
    }
    if (isDelete) delete rule.config;
    else if (isObject(rule.config)) rule.config = withLevels(rule.config as JsonObject);
    return rule;
  }
  rule.type = lower(rule.type);
  rule.action = lower(rule.action);
  if (rule.phase !== undefined) rule.phase = lower(rule.phase);
  // Only the explicit phase is stored as config.phase.
  if (isObject(rule.config) && Object.hasOwn(rule.config, 'phase')) {
    const { phase: _, ...config } = rule.config;
    rule.config = config;
  }
  return rule;
}

function withLevels(config: JsonObject): JsonObject {
  const { confidence, severity, ...rest } = config;
  if (confidence === undefined && severity === undefined) return config;
  return {
    ...rest,
    ...(present(confidence) && { confidence: lower(confidence) as string }),
    ...(present(severity) && { severity: lower(severity) as string }),
  };
}

function pick(source: Fields, fields: readonly string[]): Fields {
  const picked: Fields = {};
  for (const field of fields) {
    const value = source[field];
    if (present(value)) picked[field] = value;
  }
  return picked;
}

function dropEmptyTargets(fields: Fields): void {
  for (const field of TARGET_FIELDS) if (fields[field] === '') delete fields[field];
}

const present = (value: unknown) => value !== undefined && value !== null;

/** ASCII only: toLowerCase() maps the Kelvin sign to k. */
export const lower = (value: unknown) => (typeof value === 'string' ? value.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()) : value);
