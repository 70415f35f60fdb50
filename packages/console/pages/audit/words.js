/** What the audit log calls things: names and links, never ids. */
import { dateTime } from '../../format.js';
import { keyName } from '../../names.js';
import { link } from '../../router.js';

/** @typedef {import('./acts.js').Entry} Entry */
/** @typedef {import('../../names.js').Names} Names */

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Who: the person, and with which key. @param {Entry} entry */
export function whoOf(entry) {
  const { actor, key_id: key } = entry;
  if (actor === null) return keyName(entry) || 'a command';
  return key === null ? actor : `${actor}, ${keyName(entry)}`;
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
/** Fields that have ids of batches, which have no names. */
const BATCH_FIELDS = new Set(['undoes', 'batch', 'batches', 'replacement']);
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

/** A change on one line. @param {Pick<Entry, 'before' | 'after' | 'names'>} entry */
export const summaryOf = ({ before, after, names }) =>
  Object.entries(after ?? before ?? {})
    .filter(([field, value]) => value !== null && field !== 'name')
    .map(([field, value]) => `${fieldOf(field)}: ${textOf(value, names, field)}`)
    .join(', ');

/** What a field is called; what is named by its name is no id. @param {string} field */
export const fieldOf = (field) => field.replace(/_id$/, '').replaceAll('_', ' ');

/** @param {unknown} value @param {Record<string, string>} names Of ids. @param {string} [field] @returns {string} */
export function textOf(value, names, field) {
  if (value === null || value === undefined) return '–';
  if (value === true || value === false) return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map((each) => textOf(each, names, field)).join(', ');
  if (typeof value === 'object') {
    const fields = Object.entries(value).filter(([, each]) => each !== undefined);
    return fields.map(([name, each]) => `${fieldOf(name)} ${textOf(each, names, name)}`).join(', ');
  }
  const text = String(value);
  if (INSTANT.test(text)) return dateTime(text);
  return names[text] ?? (UUID.test(text) ? (BATCH_FIELDS.has(field ?? '') ? 'a batch' : 'one that is gone') : text);
}
