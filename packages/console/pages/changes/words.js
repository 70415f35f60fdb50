import { count, counted, dateTime } from '../../format.js';
import { senderName } from '../../names.js';
import { summaryOf } from '../audit/words.js';

export const KINDS = [
  { value: 'rules', label: 'Rules' },
  { value: 'batches', label: 'Rules, each batch' },
  { value: 'sources', label: 'Sources' },
  { value: 'settings', label: 'Settings' },
  { value: 'lists', label: 'Lists and feeds' },
  { value: 'keys', label: 'Keys' },
];

const COUNTS = /** @type {const} */ (['added', 'renewed', 'removed', 'expired']);
const BAD = new Set(['failed', 'stopped', 'held']);

/** Colours by effect; expired and other changes are grey. */
export const COLORS = /** @type {const} */ ({ added: 'accent', renewed: 'good', removed: 'warn', expired: '' });
/** @type {Record<string, string>} */
const OTHERS = { changed: 'good', change: 'good', undone: 'warn', undo: 'warn', deletion: 'warn', signals: 'accent', refresh: 'accent' };
const EFFECTS = { ...OTHERS, ...COLORS };

/** @param {Change} change */
export const colorOf = ({ kind, event }) =>
  kind === 'sources' && BAD.has(event) ? 'bad' : (EFFECTS[/** @type {keyof typeof EFFECTS} */ (event)] ?? '');

/** @param {Change} change */
export const wordOf = ({ from, text, event }) =>
  from === null && text === null ? event : `${event.charAt(0).toUpperCase()}${event.slice(1)}`;

/** @param {Change} change */
export const whereOf = ({ list_name: list, name, rule_kind: kind, object, from }) =>
  list ??
  name ??
  (from === null ? (object ?? '') : kind === 'access_rule' ? 'a deleted list' : kind === 'waf_rule' ? 'WAF rules' : 'Smart firewall rules');

/** @param {Change} change */
export function whatOf(change) {
  const { from, text, reason, several_reasons: several } = change;
  if (from === null && text === null) return summaryOf(change);
  // A refresh that failed or is on hold changed no rules; its text has the counts.
  const counts =
    from === null ? [] : COUNTS.flatMap((name) => (change[name] ? [`${count(/** @type {number} */ (change[name]))} ${name}`] : []));
  return [counts.join(', '), text ?? (several ? 'several reasons' : reason)].filter((part) => part).join(' · ');
}

/** @param {Change} change */
export function actorOf(change) {
  const { actor, key_id: id, kind, event, from, text } = change;
  if (actor !== null) return actor;
  if (event === 'expired' && from !== null) return '';
  // Actions on a source belong to a person; its refreshes to the source.
  return kind === 'sources' && (text !== null || from !== null)
    ? 'its source'
    : from === null && id === null
      ? 'a command'
      : senderName({ ...change, batch_id: undefined });
}

/** @param {Change} change */
export const whenOf = ({ at, from }) => (from === null || from === at ? dateTime(at) : `${dateTime(from)} to ${dateTime(at)}`);

/** @param {readonly Change[]} changes */
export function totalOf(changes) {
  if (changes[0]?.entries !== undefined) return `${counted(changes.length, 'batch', 'batches')}.`;
  const parts = COUNTS.flatMap((name) => {
    const sum = changes.reduce((all, change) => all + (change.from === null ? 0 : (change[name] ?? 0)), 0);
    return sum === 0 || name === 'renewed' ? [] : [`${count(sum)} ${name}`];
  });
  const others = changes.filter(({ from }) => from === null).length;
  return [parts.length > 0 && `Rules: ${parts.join(', ')}.`, others > 0 && `${counted(others, 'other change')}.`].filter(Boolean).join(' ');
}

/** @type {Record<string, string>} */
const DEEDS = { sent: 'signals', refreshed: 'refresh', deleted: 'deletion', changed: 'change', undone: 'undo' };

/** A batch as an entry of the timeline. @param {Names} names @returns {(batch: Batch) => Change} */
export const batchChange = (names) => (batch) => {
  const { id, what, received_at: at, entries, undone_by: by } = batch;
  // Deletions, changes and undos have few entries for any number of rules.
  const parts = [DEEDS[what ?? 'sent'] === 'signals' || what === 'refreshed' ? counted(entries, 'entry', 'entries') : '', by && 'undone'];
  const place = {
    list_name: listsOf(batch, names),
    kind: what === 'refreshed' ? 'sources' : 'rules',
    event: DEEDS[what ?? ''] ?? 'unknown',
  };
  return /** @type {any} */ ({ ...batch, ...place, batch_id: id, at, from: at, text: parts.filter(Boolean).join(' · ') });
};

/** @param {Batch} batch @param {Names} names */
function listsOf({ list_id: list, lists, has_targets: has }, names) {
  if (has === false) return 'expression rules';
  const first = list === null ? 'a deleted list' : names.listName(list);
  return `${first}${lists > 1 ? ` and ${counted(lists - 1, 'other')}` : ''}${has === null ? ', or none' : ''}`;
}
