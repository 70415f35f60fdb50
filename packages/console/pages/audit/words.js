/** What the audit log calls things: names and links, never ids. */
import { link } from '../../router.js';

/** @typedef {import('./acts.js').Entry} Entry */
/** @typedef {import('../../names.js').Names} Names */

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Who: the person, and with which key. @param {Entry} entry @param {Names} names */
export function whoOf({ actor, key_id: key, key_name: name }, names) {
  const keyName = key === null ? undefined : (name ?? names.keyName(key));
  if (actor === null) return keyName ?? 'a command';
  return keyName === undefined ? actor : `${actor}, ${keyName}`;
}

/** Where what was changed is shown, by the first word of the event. @type {Record<string, (object: string, names: Names) => string | undefined>} */
const PLACES = {
  list: (id, { lists }) => (lists.some((list) => list.id === id) ? link('/feeds', 'list', id) : undefined),
  feed: (id, { feedOf }) => (feedOf(id).kind === 'composed' ? link('/feeds', 'composed', id) : undefined),
  source: (id) => link('/sources', id),
  key: () => link('/keys'),
  keys: () => link('/keys'),
  webhook: () => link('/webhooks'),
  workspace: () => link('/workspace'),
  person: () => link('/people'),
  rule: (id) => link('/batches', id),
  rules: (id) => link('/batches', id),
  file: (id) => link('/batches', id),
  batches: (id) => link('/batches', id),
  batch: (id) => link('/batches', id),
};
const BATCHES = new Set(['rule', 'rules', 'file', 'batches', 'batch']);

/** What was changed: what it is called, and where it is shown. @param {Entry} entry @param {Names} names @returns {{ label: string, href: string | undefined }} */
export function objectOf({ event, object, name, after }, names) {
  const [what] = event.split(' ');
  if (BATCHES.has(what) && UUID.test(object)) return { label: batchText(after), href: PLACES[what]?.(object, names) };
  const label = name ?? (UUID.test(object) ? `a ${what} that is gone` : object);
  const isGone = / (deleted|revoked)$/.test(event);
  return { label, href: isGone && what !== 'key' ? undefined : PLACES[what]?.(object, names) };
}

/** A batch by what was asked for. @param {Record<string, unknown> | null} asked */
function batchText(asked) {
  for (const field of ['value', 'file', 'rule_ref']) if (asked?.[field]) return String(asked[field]);
  const rules = asked?.rules;
  return typeof rules === 'number' ? (rules === 1 ? 'one rule' : `${rules} rules`) : 'a batch';
}

/** A change on one line. @param {Entry} entry */
export const summaryOf = ({ before, after, names }) =>
  Object.entries(after ?? before ?? {})
    .filter(([field, value]) => value !== null && field !== 'name')
    .map(([field, value]) => `${field.replaceAll('_', ' ')}: ${textOf(value, names)}`)
    .join(', ');

/** @param {unknown} value @param {Record<string, string>} names Of ids. @returns {string} */
export function textOf(value, names) {
  if (value === null || value === undefined) return '–';
  if (Array.isArray(value)) return value.map((each) => textOf(each, names)).join(', ');
  if (typeof value === 'object') {
    const fields = Object.entries(value).filter(([, each]) => each !== undefined);
    return fields.map(([field, each]) => `${field.replaceAll('_', ' ')} ${textOf(each, names)}`).join(', ');
  }
  const text = String(value);
  return names[text] ?? (UUID.test(text) ? 'one without a name' : text);
}
