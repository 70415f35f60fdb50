import { html } from 'htm/preact';
import { useRef, useState } from 'preact/hooks';
import { manage } from '../../api.js';
import { useLive } from '../../data.js';
import { count, counted, percent, shortCount } from '../../format.js';
import { go, link } from '../../router.js';
import { Button } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { Loaded, Notice } from '../../ui/states.js';
import { Table } from '../../ui/table.js';

const ALL = '0.0.0.0/0';
const SIDE = 16;
const CELLS = Array.from({ length: SIDE * SIDE }, (_, i) => i);
const STEPS = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -SIDE, ArrowDown: SIDE, Home: -255, End: 255 };

/** @param {AddressMap} map @param {number} child */
function networkOf({ within, child_prefix: prefix }, child) {
  const octets = within.split('/')[0].split('.');
  octets[prefix / 8 - 1] = String(child);
  return `${octets.join('.')}/${prefix}`;
}

/** From 0 to 1, on a log scale. @param {number} addresses @param {number} prefix */
const shadeOf = (addresses, prefix) => 0.2 + (0.8 * Math.log2(addresses)) / (32 - prefix);

/** @param {AddressMap} map @param {number} child */
function readingOf(map, child) {
  const [blocked, all] = [map.addresses[child], 2 ** (32 - map.child_prefix)];
  const word = map.action === 'allow' ? 'never-blocked' : 'blocked';
  const notes = [
    `${count(blocked)} of ${count(all)} addresses ${word} (${blocked > 0 && blocked / all < 0.005 ? 'under 1%' : percent(blocked / all)})`,
    map.rules[child] > 0 && `${counted(map.rules[child], 'rule')} inside`,
    map.protected[child] > 0 && `${count(map.protected[child])} protected`,
    map.never_block[child] > 0 && `${count(map.never_block[child])} excluded by never-block rules`,
  ];
  return `${networkOf(map, child)}: ${notes.filter(Boolean).join(', ')}`;
}

const inside = (/** @type {string} */ network) => `${link('/rules')}?${new URLSearchParams({ address: network, match: 'covered' })}`;
const lookup = (/** @type {string} */ target) => `${link('/lookup')}?${new URLSearchParams({ target })}`;

/** Map and widest blocks of a feed. @param {{ feed: string | undefined, note?: any }} props `feed`: an id; undefined: the workspace's. */
export function AddressSpace({ feed, note }) {
  const [within, setWithin] = useState(ALL);
  const live = useLive(manage('/address-space', { feed, within }), { every: 30_000 });
  // The last map stays while the next one loads, and keeps the focus.
  const last = useRef(/** @type {AddressMap | undefined} */ (undefined));
  if (live.value !== undefined) last.current = live.value;
  const shown = { ...live, value: last.current?.feed_id === (feed ?? null) ? last.current : undefined };
  return html`
    <div class="cards">
      <${Card} title="Address space" note=${note ?? 'Addresses in this feed by network. Select a square to zoom in.'}>
        <${Loaded} live=${shown}>${(/** @type {AddressMap} */ map) => html`<${Map256} map=${map} onWithin=${setWithin} />`}<//>
      <//>
      <${Card} title="Widest blocks" note=${within === ALL ? undefined : `In ${within}.`}>
        <${Loaded} live=${shown}>${(/** @type {AddressMap} */ map) => html`<${Widest} map=${map} />`}<//>
      <//>
    </div>
  `;
}

/** @param {{ map: AddressMap, onWithin: (within: string) => void }} props */
function Map256({ map, onWithin }) {
  const { within, child_prefix: prefix, addresses } = map;
  const [at, setAt] = useState(-1);
  const [base] = within.split('/');
  const path = [ALL, ...[8, 16].filter((each) => each < prefix).map((each) => networkAt(base, each))];
  const open = (/** @type {number} */ child) => {
    const network = networkOf(map, child);
    if (prefix < 24) onWithin(network);
    else go(map.rules[child] > 0 ? inside(network) : lookup(network));
  };
  const leave = () => {
    setAt(Number(base.split('.')[prefix / 8 - 2]));
    onWithin(path.at(-2) ?? ALL);
  };
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    const step = STEPS[event.key];
    if (step !== undefined) setAt((before) => (before < 0 ? 0 : Math.min(255, Math.max(0, before + step))));
    else if (event.key === 'Enter' && at >= 0) open(at);
    else if (event.key === 'Escape' && prefix > 8) leave();
    else return;
    event.preventDefault();
  };
  const onPoint = (/** @type {any} */ event) => event.target.dataset?.at !== undefined && setAt(Number(event.target.dataset.at));
  const known = CELLS.filter((i) => addresses[i] + map.protected[i] + map.never_block[i] > 0);
  const total = addresses.reduce((sum, each) => sum + each, 0);
  return html`
    ${map.over_cap && html`<${Notice} kind="warn">Not published: ${count(map.entries)} entries exceed the limit of ${count(map.entry_limit)}.<//>`}
    <nav class="row" aria-label="Mapped network">
      ${path.map((each, i) =>
        i === path.length - 1
          ? html`<span key=${each} aria-current="true">${each === ALL ? 'All of IPv4' : each}</span>`
          : html`<${Button} key=${each} tiny kind="quiet" onClick=${() => onWithin(each)}>${each === ALL ? 'All of IPv4' : each}<//> ›`,
      )}
      ${within !== ALL && html`<a class="small" href=${inside(within)}>Rules in ${within}</a>`}
    </nav>
    <svg class=${`map ${map.action}`} viewBox="-1.5 0 17.5 16" tabindex="0" role="img" onKeyDown=${onKey} onPointerMove=${onPoint} onPointerLeave=${() => setAt(-1)}
      onClick=${(/** @type {any} */ event) => event.target.dataset?.at !== undefined && open(Number(event.target.dataset.at))}
      aria-label=${`Map of ${within} by /${prefix}: ${count(total)} addresses in ${counted(addresses.filter((each) => each > 0).length, 'network')}. Arrow keys choose, Enter zooms in, Escape zooms out.`}>
      <pattern id="hatch" width="0.3" height="0.3" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="0.09" height="0.3" /></pattern>
      ${CELLS.filter((i) => i % SIDE === 0).map((i) => html`<text x="-0.2" y=${i / SIDE + 0.68}>${i}</text>`)}
      ${CELLS.map((i) => {
        const box = { x: (i % SIDE) + 0.03, y: Math.floor(i / SIDE) + 0.03, width: 0.94, height: 0.94 };
        return html`
          <rect ...${box} class="place" data-at=${i} />
          ${addresses[i] > 0 && html`<rect ...${box} class="fill" opacity=${shadeOf(addresses[i], prefix)} />`}
          ${map.protected[i] + map.never_block[i] > 0 && html`<rect ...${box} fill="url(#hatch)" />`}
        `;
      })}
      ${at >= 0 && html`<rect class="at" x=${at % SIDE} y=${Math.floor(at / SIDE)} width="1" height="1" />`}
    </svg>
    <p class="plot-at small" role="status">${at >= 0 && readingOf(map, at)}</p>
    <p class="plot-keys">
      <span><svg class=${`map ${map.action}`} viewBox="0 0 5 1" aria-hidden="true">${[0, 1, 2, 3, 4].map((i) => html`<rect class="fill" x=${i} width="1" height="1" opacity=${0.2 + 0.2 * i} />`)}</svg>one address to all (log scale)</span>
      <span><svg class="map" viewBox="0 0 1 1" aria-hidden="true"><rect width="1" height="1" fill="url(#hatch)" /></svg>protected or never-block</span>
    </p>
    <details>
      <summary>As a table (${counted(known.length, 'network')})</summary>
      <${Table} label="Address space" rows=${known} keyOf=${(i) => i} columns=${[
        { label: 'Network', cell: (i) => html`<${Button} tiny kind="quiet" onClick=${() => open(i)}>${networkOf(map, i)}<//>` },
        { label: 'Addresses', number: true, cell: (i) => count(addresses[i]) },
        { label: 'Rules inside', number: true, cell: (i) => count(map.rules[i]) },
        { label: 'Protected', number: true, cell: (i) => count(map.protected[i]) },
        { label: 'Never-block', number: true, cell: (i) => count(map.never_block[i]) },
      ]} />
    </details>
  `;
}

/** @param {string} base @param {number} prefix */
const networkAt = (base, prefix) =>
  `${base
    .split('.')
    .map((octet, i) => (i < prefix / 8 ? octet : '0'))
    .join('.')}/${prefix}`;

/** @param {{ map: AddressMap }} props */
function Widest({ map: { widest, v6 } }) {
  if (widest.length + v6.length === 0) return html`<p class="soft">No addresses.</p>`;
  return html`
    ${widest.length > 0 && html`<${Blocks} label="Widest IPv4 blocks" blocks=${widest} />`}
    ${v6.length > 0 && html`<h3>IPv6, by /32 or wider</h3><${Blocks} label="Widest IPv6 blocks" blocks=${v6} />`}
  `;
}

/** @param {string} network @param {number} addresses */
function sizeText(network, addresses) {
  if (!network.includes(':')) return counted(addresses, 'address', 'addresses');
  const parts = addresses / 2 ** 64;
  return parts < 1 ? 'under one /64' : `${shortCount(parts)} × /64`;
}

/** @param {{ label: string, blocks: readonly AddressBlock[] }} props */
const Blocks = ({ label, blocks }) => html`
  <ol class="blocks" aria-label=${label}>
    ${blocks.map(
      ({ network, addresses, networks, rules, widest_rules: [rule] }) => html`
        <li key=${network}>
          <a class="mono" href=${lookup(network)}>${network}</a>
          <span class="number">${sizeText(network, addresses)}</span>
          <span class="small soft text">${rule === undefined ? 'No rule' : html`${rule.target === network ? '' : `${rule.target}, `}<bdi>${rule.list_name ?? 'another list'}</bdi>${rules > 1 ? `, and ${counted(rules - 1, 'more rule')}` : ''}`}${networks > 1 && `, ${counted(networks, 'network')}`}</span>
        </li>
      `,
    )}
  </ol>
`;
