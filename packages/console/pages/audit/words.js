import { dateTime } from '../../format.js';
import { keyName } from '../../names.js';
import { link } from '../../router.js';
import { batchAt } from '../changes/see.js';

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** @param {AuditEntry} entry */
export function actorOf(entry) {
  const { actor, key_id: key } = entry;
  if (actor === null) return keyName(entry) || 'a command';
  return key === null ? actor : `${actor}, ${keyName(entry)}`;
}

/** By the first word of the event. @type {Record<string, (object: string, names: Names) => string | undefined>} */
const PLACES = {
  list: (id, { lists }) => (lists.some((list) => list.id === id) ? link('/feeds', 'list', id) : undefined),
  feed: (id, { feedOf }) => (feedOf(id).kind === 'composed' ? link('/feeds', 'composed', id) : undefined),
  source: (id) => link('/sources', id),
  key: () => link('/keys'),
  keys: () => link('/keys'),
  webhook: () => link('/webhooks'),
  workspace: () => link('/workspace'),
  person: () => link('/people'),
  rule: batchAt,
  rules: batchAt,
  file: batchAt,
  batches: batchAt,
  batch: batchAt,
};
/** Fields with ids of batches, which have no names. */
const BATCH_FIELDS = new Set(['undoes', 'batch', 'batches', 'replacement']);
const BATCHES = new Set(['rule', 'rules', 'file', 'batches', 'batch']);

/** @param {AuditEntry} entry @param {Names} names @returns {{ label: string, href: string | undefined }} */
export function objectOf({ event, object, name, after }, names) {
  const [what] = event.split(' ');
  if (BATCHES.has(what) && UUID.test(object)) return { label: batchText(after), href: PLACES[what]?.(object, names) };
  const label = name ?? (UUID.test(object) ? `a deleted ${what}` : object);
  const isDeleted = / (deleted|revoked)$/.test(event);
  return { label, href: isDeleted && what !== 'key' ? undefined : PLACES[what]?.(object, names) };
}

/** @param {Record<string, unknown> | null} asked */
function batchText(asked) {
  for (const field of ['value', 'file', 'rule_ref']) if (asked?.[field]) return String(asked[field]);
  const rules = asked?.rules;
  return typeof rules === 'number' ? (rules === 1 ? 'one rule' : `${rules} rules`) : 'a batch';
}

/** @param {Pick<AuditEntry, 'before' | 'after' | 'names'>} entry */
export const summaryOf = ({ before, after, names }) =>
  Object.entries(after ?? before ?? {})
    .filter(([field, value]) => value !== null && field !== 'name')
    .map(([field, value]) => `${fieldOf(field)}: ${textOf(value, names, field)}`)
    .join(', ');

/** @param {string} field */
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
  return names[text] ?? (UUID.test(text) ? (BATCH_FIELDS.has(field ?? '') ? 'a batch' : 'deleted') : text);
}
