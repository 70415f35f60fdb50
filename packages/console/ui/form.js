import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { SCHEMAS } from '../schemas.js';
import { SelectField, TextField } from './field.js';

/** @param {string} text @param {'words' | 'lines'} list */
const itemsOf = (text, list) =>
  text
    .split(list === 'words' ? /[\s,]+/ : /[\n,]+/)
    .map((item) => item.trim())
    .filter((item) => item !== '');
/** @param {any} value */
const textOf = (value) => (Array.isArray(value) ? value.join('\n') : String(value ?? ''));
/** null: empty. @param {string} text @param {SchemaField} schema @returns {any} */
const jsonOf = (text, { number, list }) => {
  if (list !== undefined) return itemsOf(text, list);
  return text.trim() === '' ? null : number ? Number(text) : text.trim();
};

/**
 * The state of a form for an operation. `input` makes the field of a name; `body` has the values that are not empty, `changes` those that
 * differ from `before`, null where one was emptied.
 * @param {string} operation @param {Record<string, any>} [before]
 */
export function useFields(operation, before = {}) {
  const fields = SCHEMAS[operation];
  const [values, setValues] = useState(() => Object.fromEntries(fields.map(({ field }) => [field, textOf(before[field])])));
  const set = (changes) => setValues((all) => ({ ...all, ...changes }));
  const entries = fields.map((schema) => /** @type {const} */ ([schema.field, jsonOf(values[schema.field], schema)]));
  const isChanged = (field) => values[field] !== textOf(before[field]);
  return {
    fields,
    values,
    set,
    body: Object.fromEntries(entries.filter(([, value]) => value !== null && !(Array.isArray(value) && value.length === 0))),
    changes: Object.fromEntries(entries.filter(([field]) => isChanged(field))),
    /** `empty`: the label of no choice. @param {string} field @param {Record<string, any>} [props] */
    input(field, { empty, options, ...props } = {}) {
      const { number, maxlength, options: known, ...schema } = /** @type {SchemaField} */ (fields.find((each) => each.field === field));
      const shared = {
        label: schema.label,
        hint: schema.hint,
        value: values[field],
        onValue: (value) => set({ [field]: value }),
        ...props,
      };
      const choices = options ?? known;
      if (choices === undefined)
        return html`<${TextField} key=${field} maxlength=${maxlength} ...${number && { inputmode: 'numeric', pattern: '-?[0-9]*' }} ...${shared} />`;
      return html`<${SelectField} key=${field} options=${empty === undefined ? choices : [{ value: '', label: empty }, ...choices]} ...${shared} />`;
    },
  };
}
