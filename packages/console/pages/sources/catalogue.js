import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { manage } from '../../api.js';
import { useLive } from '../../data.js';
import { counted } from '../../format.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { TextField } from '../../ui/field.js';
import { Loaded } from '../../ui/states.js';
import { everyText, linkToSource } from './source-state.js';

/** Well-known lists as cards. @param {{ sources: Source[], onAdd: ((name: string) => void) | undefined }} props */
export function Catalogue({ sources, onAdd }) {
  const live = useLive(manage('/catalogue'), { every: 3_600_000 });
  const [text, setText] = useState('');
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return html`
    <h2>Catalogue</h2>
    <${Loaded} live=${live}>${(/** @type {{ sources: any[] }} */ { sources: all }) => {
      const found = all.filter((each) =>
        words.every((word) => `${each.title} ${each.name} ${each.url} ${each.terms} ${purposeText(each)}`.toLowerCase().includes(word)),
      );
      return html`
        <div style=${{ maxWidth: '24rem' }}><${TextField} label="Search the catalogue" value=${text} onValue=${setText} type="search" /></div>
        <p class="small soft" role="status">${found.length === all.length ? counted(all.length, 'list') : `${found.length} of ${counted(all.length, 'list')}`}</p>
        <div class="cards">
          ${found.map((each) => html`<${Entry} key=${each.name} row=${each} source=${sources.find(({ catalogue }) => catalogue === each.name)} onAdd=${onAdd} />`)}
        </div>
      `;
    }}<//>
  `;
}

/** @param {{ purpose: string }} row */
const purposeText = ({ purpose }) => (purpose === 'allow' ? 'never block' : 'block');

/** @param {{ row: any, source: Source | undefined, onAdd: ((name: string) => void) | undefined }} props */
function Entry({ row, source, onAdd }) {
  const { name, title, url, every, terms, note, entries } = row;
  const size = entries === null ? '' : `, about ${counted(entries, 'entry', 'entries')} (${row.entries_at})`;
  const action =
    source === undefined
      ? onAdd && html`<${Button} tiny aria-label=${`Add ${title}`} onClick=${() => onAdd(name)}>Add<//>`
      : html`<a class="small" href=${linkToSource(source)}>Added, ${counted(source.entries, 'entry', 'entries')}</a>`;
  return html`
    <${Card} title=${title} actions=${action} note=${`${new URL(url).hostname}, every ${everyText(every)}${size}`}>
      <p><${Badge} kind=${row.purpose === 'allow' ? 'good' : ''}>${purposeText(row)}<//></p>
      <p class="small soft text">${terms}</p>
      ${note !== null && html`<p class="small text">${note}</p>`}
    <//>
  `;
}
