/** SPEC D32.1. */
import { isoTime } from '../../clock.ts';
import type { AuditRow } from '../../ports/stored/account-store.ts';
import type { NamedRun, RuleChangeSum } from '../../ports/stored/changes.ts';
import { type AuditNames, auditJson } from '../audit.ts';

export const CHANGE_KINDS = ['rules', 'sources', 'settings', 'lists', 'keys'] as const;
export type ChangeKind = (typeof CHANGE_KINDS)[number];

/** `key` is unique within the instant (ms). */
export interface Place {
  readonly at: number;
  readonly key: string;
}

/** Above 0 if `a` is newer than `b`. */
export const newer = (a: Place, b: Place): number => a.at - b.at || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);

export interface Entry extends Place {
  readonly json: Omit<EntryJson, 'id'>;
}

const NOTHING = {
  from: null,
  list_id: null,
  list_name: null,
  rule_kind: null,
  added: null,
  renewed: null,
  removed: null,
  expired: null,
  reason: null,
  several_reasons: false,
  batch_id: null,
  undoes: null,
  object: null,
  name: null,
  text: null,
  actor: null,
  person: null,
  key_id: null,
  key_name: null,
  before: null,
  after: null,
  names: {},
} as const;

type Text = string | null;

/** Every kind has all fields. */
export interface EntryJson
  extends Record<
    Exclude<keyof typeof NOTHING, 'added' | 'renewed' | 'removed' | 'expired' | 'several_reasons' | 'before' | 'after' | 'names'>,
    Text
  > {
  readonly id: string;
  readonly at: string;
  readonly kind: ChangeKind;
  readonly event: string;
  readonly added: number | null;
  readonly renewed: number | null;
  readonly removed: number | null;
  readonly expired: number | null;
  readonly several_reasons: boolean;
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
  readonly names: Readonly<Record<string, string>>;
}

const MINUTE = 60_000;

export const rulePlace = ({ kind, list, by, last }: RuleChangeSum): Place => ({
  at: last * MINUTE,
  key: `r ${kind} ${list?.id ?? ''} ${JSON.stringify(by)}`,
});

/** `at` and `from` are whole minutes: the last and the first. */
export function ruleEntry(sum: RuleChangeSum, names: AuditNames): Entry {
  const { kind, list, by, added, renewed, removed, expired, batchId, reason } = sum;
  const place = rulePlace(sum);
  const json: Entry['json'] = {
    ...NOTHING,
    ...{ at: isoTime(place.at)!, from: isoTime(sum.first * MINUTE), kind: by?.sourceId == null ? 'rules' : 'sources', event: eventOf(sum) },
    ...{ list_id: list?.id ?? null, list_name: list?.name ?? null, rule_kind: kind, added, renewed, removed, expired },
    ...{ reason: reason ?? null, several_reasons: reason === undefined, batch_id: batchId ?? null, undoes: by?.undoes ?? null },
    ...{
      actor: by?.actor ?? null,
      person: by?.personId ?? null,
      key_id: by?.keyId ?? null,
      key_name: names.keys.get(by?.keyId ?? '') ?? null,
    },
  };
  return { ...place, json };
}

function eventOf({ by, added, removed, expired }: RuleChangeSum): string {
  if (by === null) return 'expired';
  if (by.undoes !== null) return 'undone';
  if (by.sourceId !== null) return 'refreshed';
  if (by.inPlace || (added > 0 && removed > 0)) return 'changed';
  return added > 0 ? 'added' : removed > 0 ? 'removed' : expired > 0 ? 'expired' : 'renewed';
}

/** A program only sent the same rules again. */
export const isRenewal = ({ added, removed, expired, by }: RuleChangeSum): boolean =>
  added + removed + expired === 0 && (by?.actor ?? null) === null && by?.inPlace !== true;

/** Successful refreshes appear as rule changes instead. */
export function runEntry({ sourceId, listId, name, n, run }: NamedRun): Entry {
  const { at, outcome, text } = run;
  const json: Entry['json'] = {
    ...NOTHING,
    ...{ at: isoTime(at)!, kind: 'sources', event: outcome, list_id: listId, list_name: name, object: sourceId, name, text },
    ...{ added: run.added, removed: run.removed },
  };
  return { at, key: `s ${sourceId} ${String(n).padStart(9, '0')}`, json };
}

/** Events that appear as rule changes instead. */
const RULE_EVENTS =
  /^(rules? (changed|deleted|imported)|batch(es)? undone|file (imported|sent)|list replacement started|target allowed|blocks split|(rule|batch)\b.*)$/;
const KIND_OF: readonly (readonly [event: RegExp, kind: ChangeKind])[] = [
  [/^(list|feed)s? (created|deleted|restored)$/, 'lists'],
  [/^keys? /, 'keys'],
  [/^sources? /, 'sources'],
];

/** undefined: appears as a rule change instead. */
export const kindOfEvent = (event: string): ChangeKind | undefined =>
  RULE_EVENTS.test(event) ? undefined : (KIND_OF.find(([pattern]) => pattern.test(event))?.[1] ?? 'settings');

/** Orders rows of the same instant. */
export const auditKey = (id: number): string => `a ${String(id).padStart(15, '0')}`;

export function auditEntry(row: AuditRow, kind: ChangeKind, names: AuditNames): Entry {
  const { at, event, object, name, actor, person, key_id, key_name, before, after, names: of } = auditJson(row, names);
  const json: Entry['json'] = { ...NOTHING, at: at!, kind, event, object, name, actor, person, key_id, key_name, before, after, names: of };
  return { at: row.at, key: auditKey(row.id), json };
}
