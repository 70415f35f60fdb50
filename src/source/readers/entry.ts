/** The entries of plain lists of addresses (docs/signals.md): their fields, how a row gives them, and the signal each stands for. */

import { readInstant } from '../../clock.ts';
import { hasCode, WeirError } from '../../errors.ts';
import { parsedJson } from '../../json/json.ts';
import type { JsonObject, Target } from '../../rule.ts';
import { LIMITS } from '../../signal/limits.ts';
import { isObject } from '../../signal/normalize.ts';
import { writeTarget } from '../../signal/target.ts';
import { readDuration } from '../../text/duration.ts';
import type { FileSignal } from './items.ts';
import { firstGiven, isGiven, passedOver, type Row, shown, targetsOf } from './row.ts';

/** What an entry asks for: a rule, or the end of those that block its value. */
export const LIST_ACTIONS = ['block', 'allow', 'unblock'] as const;
export type ListAction = (typeof LIST_ACTIONS)[number];

/** The columns and fields that `weir rule export` writes, in their order. */
export const EXPORT_FIELDS = ['value', 'action', 'expires_at', 'reason', 'labels', 'config', 'rule_ref', 'name'] as const;

/** Names of columns, in lower case and letters only, by what they hold. */
const NAMES = {
  action: ['action'],
  expires: ['expires', 'expiresin', 'expiresat'],
  reason: ['reason', 'description', 'comment'],
  labels: ['labels'],
  config: ['config'],
  confidence: ['confidence'],
  severity: ['severity'],
  ruleRef: ['ruleref'],
  name: ['name'],
} as const;

/** What the command line says of all entries; an entry's own fields come before it. */
export interface ListDefaults {
  readonly action: ListAction;
  /** seconds */
  readonly expiresIn: number | undefined;
  readonly reason: string | undefined;
  readonly labels: JsonObject;
}

/** One entry of a list, with the defaults filled in. */
export interface ListEntry {
  readonly target: Target;
  readonly action: ListAction;
  /** Seconds from the instant of sending, or the instant itself (ms); neither: the service's own default. */
  readonly expiry: { readonly seconds: number } | { readonly at: number } | undefined;
  readonly reason: string | undefined;
  readonly labels: JsonObject | undefined;
  readonly config: JsonObject | undefined;
  readonly ruleRef: string | undefined;
  readonly name: string | undefined;
}

/** The entry of a request. Throws USAGE with the field that is at fault. */
export function entryOf(row: Row, defaults: ListDefaults): ListEntry {
  const [only, ...others] = entriesOf(row, defaults);
  if (only === undefined || others.length > 0) throw cellFault('value', 'must be one address or network, and no range');
  return only;
}

/** The entries of a row: several where it names a range. Throws USAGE with the field that is at fault. */
function entriesOf(row: Row, defaults: ListDefaults): ListEntry[] {
  const cell = (field: keyof typeof NAMES): unknown => firstGiven(row, NAMES[field]);
  const action = text(cell('action'), 'action')?.toLowerCase() ?? defaults.action;
  if (!isAction(action)) throw cellFault('action', `action must be one of: ${LIST_ACTIONS.join(', ')}`);
  const labels = { ...defaults.labels, ...object(cell('labels'), 'labels') };
  const [confidence, severity] = [text(cell('confidence'), 'confidence'), text(cell('severity'), 'severity')];
  const levels = { ...(confidence !== undefined && { confidence }), ...(severity !== undefined && { severity }) };
  const config = { ...object(cell('config'), 'config'), ...levels };
  const targets = targetsOf(row);
  if (typeof targets === 'string') throw cellFault('value', targets);
  const shared = {
    action,
    expiry: expiryOf(cell('expires')) ?? (defaults.expiresIn === undefined ? undefined : { seconds: defaults.expiresIn }),
    reason: text(cell('reason'), 'reason') ?? defaults.reason,
    labels: orNone(labels),
    config: orNone(config),
    ruleRef: text(cell('ruleRef'), 'rule_ref'),
    name: text(cell('name'), 'name'),
  };
  if (targets.length > 1 && shared.ruleRef !== undefined)
    throw cellFault('rule_ref', `a rule_ref is of one network, and this range is ${targets.length}`);
  return targets.map((target) => ({ target, ...shared }));
}

/** What became of a row: entries, what is wrong with it, or why it asks for nothing. */
export type ReadRow = { readonly entries: readonly ListEntry[] } | { readonly fault: string } | { readonly passed: string };

/** Reads a row. */
export function readRow(row: Row, defaults: ListDefaults): ReadRow {
  const passed = passedOver(row);
  if (passed !== undefined) return passed;
  try {
    return { entries: entriesOf(row, defaults) };
  } catch (fault) {
    if (hasCode(fault, 'USAGE')) return { fault: fault.message };
    throw fault;
  }
}

/** Whether the signal of an entry can say its name: only v1 events name access rules, and they have none of the others. */
export const canSayName = ({ action, labels, config, ruleRef }: ListEntry): boolean =>
  action === 'block' && (labels ?? config ?? ruleRef) === undefined;

/** Whether an entry asks for nothing any more at `now` (ms since 1970). */
export const hasExpired = ({ expiry, action }: ListEntry, now: number): boolean =>
  expiry !== undefined && action !== 'unblock' && secondsOf(expiry, now) <= 0;

/** The signal that an entry stands for when it is sent at `now` (ms since 1970); undefined when it has expired. */
export function signalOf(entry: ListEntry, now: number): FileSignal | undefined {
  const { target, action, reason, labels, config, ruleRef, name, expiry } = entry;
  if (hasExpired(entry, now)) return undefined;
  const seconds = expiry && 'seconds' in expiry ? expiry.seconds : undefined;
  // The service makes it the very instant.
  const at = expiry && 'at' in expiry ? new Date(Math.min(expiry.at, now + LIMITS.expirySeconds * 1000)).toISOString() : undefined;
  const wire = writeTarget(target);
  if (action === 'unblock') {
    return json(2, { kind: 'access_rule', op: 'delete', rule_ref: ruleRef, rule: { target: wire, action: 'block' } });
  }
  if (name !== undefined && canSayName(entry)) {
    return json(1, { type: 'access_rules', action, ...wire, expiration: seconds, expires_at: at, description: reason, name });
  }
  const rule = { target: wire, action, config };
  return json(2, { kind: 'access_rule', op: 'upsert', rule_ref: ruleRef, expires_in: seconds, expires_at: at, reason, labels, rule });
}

/** An instant beyond the longest expiry is as good as for ever. */
const secondsOf = (expiry: NonNullable<ListEntry['expiry']>, now: number) =>
  'seconds' in expiry ? expiry.seconds : Math.min(Math.ceil(expiry.at / 1000) - Math.ceil(now / 1000), LIMITS.expirySeconds);

const json = (version: FileSignal['version'], value: object): FileSignal => ({ version, json: Buffer.from(JSON.stringify(value)) });

// ---------------------------------------------------------------- cells

const cellFault = (field: string, message: string) => new WeirError('USAGE', message, { cause: { field, message } });

const isAction = (word: string): word is ListAction => LIST_ACTIONS.some((action) => action === word);
function orNone(fields: JsonObject): JsonObject | undefined {
  for (const _ in fields) return fields;
  return undefined;
}

function text(value: unknown, field: string): string | undefined {
  if (!isGiven(value)) return undefined;
  if (typeof value !== 'string') throw cellFault(field, `${field} must be text`);
  return value;
}

/** An object, or its JSON in a cell of CSV. */
function object(value: unknown, field: string): JsonObject | undefined {
  if (!isGiven(value)) return undefined;
  const found = typeof value === 'string' ? parsedJson(value) : value;
  if (!isObject(found)) throw cellFault(field, `${field} must be a JSON object`);
  return found as JsonObject;
}

function expiryOf(value: unknown): ListEntry['expiry'] {
  if (!isGiven(value)) return undefined;
  const seconds = readDuration(String(value));
  if (seconds !== undefined) return { seconds };
  const at = readInstant(value);
  if (at === undefined)
    throw cellFault('expires', `expiry ${shown(value)} is neither a duration, such as 3600 or 7d, nor an ISO 8601 instant`);
  return { at };
}
