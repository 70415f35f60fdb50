import { count, counted, dateTime } from '../../format.js';
import { senderName } from '../../names.js';
import { summaryOf } from '../audit/words.js';

export const KINDS = [
  { value: 'rules', label: 'Rules' },
  { value: 'sources', label: 'Sources' },
  { value: 'settings', label: 'Settings' },
  { value: 'lists', label: 'Lists and feeds' },
  { value: 'keys', label: 'Keys' },
];

const COUNTS = /** @type {const} */ (['added', 'renewed', 'removed', 'expired']);
const BAD = new Set(['failed', 'stopped', 'held']);

/** @param {Change} change @returns {'good' | 'warn' | 'bad' | 'accent' | ''} */
export function colorOf({ kind, event }) {
  if (kind === 'sources' && BAD.has(event)) return 'bad';
  return event === 'added' ? 'accent' : event === 'undone' || event === 'removed' ? 'warn' : '';
}

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
  const parts = COUNTS.flatMap((name) => {
    const sum = changes.reduce((all, change) => all + (change.from === null ? 0 : (change[name] ?? 0)), 0);
    return sum === 0 || name === 'renewed' ? [] : [`${count(sum)} ${name}`];
  });
  const others = changes.filter(({ from }) => from === null).length;
  return [parts.length > 0 && `Rules: ${parts.join(', ')}.`, others > 0 && `${counted(others, 'other change')}.`].filter(Boolean).join(' ');
}
