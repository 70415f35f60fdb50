import { html } from 'htm/preact';
import { SelectField } from '../../ui/field.js';

/**
 * @param {{ names: Names, value: string, onValue: (value: string) => void }} props The value is an id; empty: the
 *   default list.
 */
export const ListField = ({ names, value, onValue }) => html`
  <${SelectField}
    label="List" value=${value} onValue=${onValue}
    options=${[
      { value: '', label: names.lists.find((list) => list.default)?.name ?? 'The default list' },
      ...names.lists.filter((list) => !list.default && list.source === null).map(({ id, name }) => ({ value: id, label: name })),
    ]}
  />
`;
