/** What has changed, in words: made of the fields of an entry alone. */
import { count, counted, dateTime } from '../../format.js';
import { senderName } from '../../names.js';
import { summaryOf } from '../audit/words.js';

/**
 * @typedef {object} Change An entry of GET /changes.
 * @property {string} id
 * @property {string} at
 * @property {string | null} from
 * @property {'rules' | 'sources' | 'settings' | 'lists' | 'keys'} kind
 * @property {string} event
 * @property {string | null} list_id
 * @property {string | null} list_name
 * @property {string | null} rule_kind
 * @property {number | null} added
 * @property {number | null} renewed
 * @property {number | null} removed
 * @property {number | null} expired
 * @property {string | null} reason
 * @property {boolean} several_reasons
 * @property {string | null} batch_id
 * @property {string | null} undoes
 * @property {string | null} object
 * @property {string | null} name
 * @property {string | null} text
 * @property {string | null} actor
 * @property {string | null} person
 * @property {string | null} key_id
 * @property {string | null} key_name
 * @property {Record<string, unknown> | null} before
 * @property {Record<string, unknown> | null} after
 * @property {Record<string, string>} names
 */

/** The sorts of changes, as people call them. */
export const KINDS = [
  { value: 'rules', label: 'Rules' },
  { value: 'sources', label: 'Sources' },
  { value: 'settings', label: 'Settings' },
  { value: 'lists', label: 'Lists and feeds' },
  { value: 'keys', label: 'Keys' },
];

const COUNTS = /** @type {const} */ (['added', 'renewed', 'removed', 'expired']);
const BAD = new Set(['failed', 'stopped', 'held']);

/** The colour of an event. @param {Change} change @returns {'good' | 'warn' | 'bad' | 'accent' | ''} */
export function colorOf({ kind, event }) {
  if (kind === 'sources' && BAD.has(event)) return 'bad';
  return event === 'added' ? 'accent' : event === 'undone' || event === 'removed' ? 'warn' : '';
}

/** The word for what happened. @param {Change} change */
export const wordOf = ({ from, text, event }) =>
  from === null && text === null ? event : `${event.charAt(0).toUpperCase()}${event.slice(1)}`;

/** Where it happened. @param {Change} change */
export const whereOf = ({ list_name: list, name, rule_kind: kind, object, from }) =>
  list ??
  name ??
  (from === null
    ? (object ?? '')
    : kind === 'access_rule'
      ? 'a list that is gone'
      : kind === 'waf_rule'
        ? 'WAF rules'
        : 'Smart firewall rules');

/** What happened, in a few words. @param {Change} change */
export function whatOf(change) {
  const { from, text, reason, several_reasons: several } = change;
  if (from === null && text === null) return summaryOf(change);
  // A refresh that was held back or has failed changed nothing: its text says what it would have.
  const counts =
    from === null ? [] : COUNTS.flatMap((name) => (change[name] ? [`${count(/** @type {number} */ (change[name]))} ${name}`] : []));
  return [counts.join(', '), text ?? (several ? 'not one reason for all' : reason)].filter((part) => part).join(' · ');
}

/** Who did it. @param {Change} change */
export function whoOf(change) {
  const { actor, key_id: id, kind, event, from, text } = change;
  if (actor !== null) return actor;
  if (event === 'expired' && from !== null) return '';
  // What somebody did to a source is his; a refresh is the source's.
  return kind === 'sources' && (text !== null || from !== null)
    ? 'its source'
    : from === null && id === null
      ? 'a command'
      : senderName({ ...change, batch_id: undefined });
}

/** When it happened, of rules from the first minute to the last. @param {Change} change */
export const whenOf = ({ at, from }) => (from === null || from === at ? dateTime(at) : `${dateTime(from)} to ${dateTime(at)}`);

/** What a page of entries is in sum, of what was read. @param {readonly Change[]} changes */
export function totalOf(changes) {
  const parts = COUNTS.flatMap((name) => {
    const sum = changes.reduce((all, change) => all + (change.from === null ? 0 : (change[name] ?? 0)), 0);
    return sum === 0 || name === 'renewed' ? [] : [`${count(sum)} ${name}`];
  });
  const others = changes.filter(({ from }) => from === null).length;
  return [parts.length > 0 && `Rules: ${parts.join(', ')}.`, others > 0 && `${counted(others, 'other change')}.`].filter(Boolean).join(' ');
}
