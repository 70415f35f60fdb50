/** Entries of plain lists (docs/signals.md): fields, rows, and resulting signals. */

import { hasCode } from '../../errors.ts';
import type { JsonObject, Target } from '../../rule.ts';
import { LIMITS } from '../../signal/limits.ts';
import { writeTarget } from '../../signal/target.ts';
import { describe, type Warn } from './describe.ts';
import { type Expiry, instantOf, readExpiry } from './expiry.ts';
import type { FileSignal } from './items.ts';
import { judge, requireSorts } from './judge.ts';
import { cellFault, isGiven, quoted, type Row } from './row.ts';
import { targetsOf } from './targets.ts';
import type { ListAction } from './verdict.ts';

/** In order. */
export const EXPORT_FIELDS = ['value', 'action', 'expires_at', 'reason', 'labels', 'config', 'rule_ref', 'name'] as const;

/** The entries' own fields win. */
export interface ListDefaults {
  readonly action: ListAction;
  readonly expiresIn: number | undefined;
  readonly reason: string | undefined;
  readonly labels: JsonObject;
}

export interface ListEntry {
  readonly target: Target;
  readonly action: ListAction;
  /** Seconds from sending, or an instant (ms); undefined: the service's default. */
  readonly expiry: Expiry | undefined;
  readonly reason: string | undefined;
  readonly labels: JsonObject | undefined;
  readonly config: JsonObject | undefined;
  readonly ruleRef: string | undefined;
  readonly name: string | undefined;
}

/** Throws USAGE naming the faulty field. */
export function entryOf(row: Row, defaults: ListDefaults): ListEntry {
  const read = entriesOf(row, defaults, undefined);
  if ('passed' in read) throw cellFault('value', read.passed);
  const [only, ...others] = read;
  if (only === undefined || others.length > 0) throw cellFault('value', 'must be one address or network, and no range');
  return only;
}

export type ReadRow =
  | { readonly entries: readonly ListEntry[]; readonly warnings: readonly string[] }
  | { readonly fault: string }
  | { readonly passed: string };

export function readRow(row: Row, defaults: ListDefaults): ReadRow {
  const warnings: string[] = [];
  try {
    const read = entriesOf(row, defaults, (warning) => warnings.push(warning));
    return 'passed' in read ? read : { entries: read, warnings };
  } catch (fault) {
    if (hasCode(fault, 'USAGE')) return { fault: fault.message };
    throw fault;
  }
}

function entriesOf(row: Row, defaults: ListDefaults, warn: Warn): ListEntry[] | { readonly passed: string } {
  const { passed, sorts = [], action = defaults.action } = judge(row, defaults.action);
  if (passed !== undefined) return { passed };
  const targets = targetsOf(row);
  if (typeof targets === 'string') throw cellFault('value', targets);
  requireSorts(sorts, targets);
  const { reason = defaults.reason, ...description } = describe(row, defaults.labels, warn);
  const expiry = expiryOf(row) ?? (defaults.expiresIn === undefined ? undefined : { seconds: defaults.expiresIn });
  const ruleRef = refOf(row);
  if (targets.length > 1 && ruleRef !== undefined)
    throw cellFault('rule_ref', `a rule_ref is of one network, and this range is ${targets.length}`);
  return targets.map((target) => ({ target, action, expiry, reason, ...description, ruleRef }));
}

function refOf(row: Row): string | undefined {
  const [, value] = row.find(([{ role }, each]) => role === 'ref' && isGiven(each)) ?? [];
  if (value !== undefined && typeof value !== 'string') throw cellFault('rule_ref', 'rule_ref must be text');
  return value;
}

function expiryOf(row: Row): Expiry | undefined {
  let earliest: Expiry | undefined;
  for (const [{ name, role }, value] of row) {
    if (role === 'unit' && /\d/.test(String(value)))
      throw cellFault('expires', `${quoted(value)} in "${name}" may be an expiry: call that column expires_in or expires_at`);
    if ((role !== 'instant' && role !== 'lifetime' && role !== 'expiry') || !isGiven(value)) continue;
    const found = readExpiry(value, role);
    if (typeof found === 'string') throw cellFault('expires', `${quoted(value)} in "${name}" ${found}`);
    const now = Date.now();
    if (found !== undefined && (earliest === undefined || instantOf(found, now) < instantOf(earliest, now))) earliest = found;
  }
  return earliest;
}

/** Only v1 events name access rules, and they have none of these fields. */
export const canSayName = ({ action, labels, config, ruleRef }: ListEntry): boolean =>
  action === 'block' && (labels ?? config ?? ruleRef) === undefined;

export const hasExpired = ({ expiry, action }: Pick<ListEntry, 'expiry' | 'action'>, now: number): boolean =>
  expiry !== undefined && action !== 'unblock' && secondsOf(expiry, now) <= 0;

/** The signal sent at `now` (ms since 1970); undefined if expired. */
export function signalOf(entry: ListEntry, now: number): FileSignal | undefined {
  const { target, action, reason, labels, config, ruleRef, name, expiry } = entry;
  if (hasExpired(entry, now)) return undefined;
  const seconds = expiry && 'seconds' in expiry ? expiry.seconds : undefined;
  // The service uses this exact instant.
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

/** Beyond the longest expiry: permanent. */
const secondsOf = (expiry: NonNullable<ListEntry['expiry']>, now: number) =>
  'seconds' in expiry ? expiry.seconds : Math.min(Math.ceil(expiry.at / 1000) - Math.ceil(now / 1000), LIMITS.expirySeconds);

const json = (version: FileSignal['version'], value: object): FileSignal => ({ version, json: Buffer.from(JSON.stringify(value)) });
