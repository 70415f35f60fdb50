import { html } from 'htm/preact';
import { count } from '../../format.js';
import { setQuery } from '../../router.js';
import { Button } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { Table } from '../../ui/table.js';

const MOST = 50;

/** @type {(of: string, whose: string) => Column<Version>[]} */
const columns = (of, whose) => [
  { label: of, cell: ({ what }) => what },
  { label: 'Version', cell: ({ note }) => note },
  { label: whose, number: true, cell: ({ clients }) => count(clients) },
  {
    label: 'Show',
    cell: ({ query, isSelected }) =>
      html`<${Button} tiny aria-pressed=${isSelected} onClick=${() => setQuery(isSelected ? Object.fromEntries(Object.keys(query).map((name) => [name, undefined])) : query)}>Show devices<//>`,
  },
];

/**
 * @param {{ title: string, of: string, whose: string, versions: readonly Version[] }} props `of`: what has versions; `whose`: who has them.
 */
export const Versions = ({ title, of, whose, versions }) =>
  versions.length > 0 &&
  html`
    <${Card} title=${title} note=${versions.length > MOST ? `First ${MOST} of ${count(versions.length)}.` : undefined}>
      <${Table} label=${title} columns=${columns(of, whose)} rows=${versions.slice(0, MOST)} keyOf=${(/** @type {Version} */ { key }) => key} />
    <//>
  `;
