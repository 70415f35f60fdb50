import { html } from 'htm/preact';
import { count, counted } from '../../format.js';
import { linkToOverlap, shareText } from './worth-words.js';

const MOST = 30;

/** @param {{ lists: readonly ComparedList[] }} props */
export function Matrix({ lists }) {
  const largest = lists.toSorted((a, b) => b.entries - a.entries).slice(0, MOST);
  if (largest.length < 2) return html`<p class="soft">Only one list.</p>`;
  return html`
    ${largest.length < lists.length && html`<p class="small soft">The ${MOST} largest lists.</p>`}
    <ul class="overlaps">
      ${largest.map(
        (list) => html`
          <li key=${list.id}>
            <a href=${linkToOverlap(list)}><bdi>${list.name}</bdi></a> <span class="small soft">${counted(list.entries, 'entry', 'entries')}</span><br />
            <span class="small text">${overlapText(list, largest)}</span>
          </li>
        `,
      )}
    </ul>
    <div class="table-box" role="region" aria-label="Overlap" tabindex="0">
      <table class="matrix">
        <caption class="hidden-visually">Entries of a row's list that the column's list contains too</caption>
        <thead>
          <tr>
            <td></td>
            ${largest.map((list) => html`<th key=${list.id} scope="col" title=${list.name}><bdi>${list.name}</bdi></th>`)}
          </tr>
        </thead>
        <tbody>
          ${largest.map(
            (list) => html`
              <tr key=${list.id}>
                <th scope="row" title=${list.name}><a href=${linkToOverlap(list)}><bdi>${list.name}</bdi></a></th>
                ${largest.map((other) => html`<${Cell} key=${other.id} list=${list} other=${other} />`)}
              </tr>
            `,
          )}
        </tbody>
      </table>
    </div>
  `;
}

/** In the order of size. @param {ComparedList} list @param {readonly ComparedList[]} others */
function overlapText(list, others) {
  const shared = list.overlaps.filter(({ name, entries }) => entries > 0 && others.some((each) => each.name === name));
  if (shared.length === 0) return 'No overlap with these lists.';
  const sorted = shared.toSorted((a, b) => b.entries - a.entries);
  return sorted.map(({ name, entries }) => `${shareText(entries, list.entries)} in ${name}`).join(', ');
}

/** @param {{ list: ComparedList, other: ComparedList }} props */
function Cell({ list, other }) {
  if (list.id === other.id) return html`<td class="itself"><span class="hidden-visually">same list</span></td>`;
  const entries = list.overlaps.find(({ name }) => name === other.name)?.entries ?? 0;
  if (entries === 0) return html`<td class="soft"><span aria-hidden="true">–</span><span class="hidden-visually">none</span></td>`;
  const text = `${count(entries)} of ${counted(list.entries, 'entry', 'entries')} of ${list.name} in ${other.name}`;
  return html`<td title=${text} style=${{ '--share': entries / list.entries }}>${shareText(entries, list.entries)}</td>`;
}
