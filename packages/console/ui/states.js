import { html } from 'htm/preact';
import { ApiError } from '../api.js';
import { isUnavailable } from '../data.js';
import { sentence } from '../format.js';
import { link } from '../router.js';
import { Button } from './button.js';
import { Icon } from './icon.js';

export const Loading = () => html`<p class="loading" role="status">Loading…</p>`;

/** @param {{ icon?: string, title: string, children?: any }} props */
export const Empty = ({ icon = 'info', title, children }) => html`
  <div class="empty"><${Icon} name=${icon} size=${32} /><h2>${title}</h2>${children}</div>
`;

/** @param {{ error: Error, retry?: () => void }} props */
export const Failed = ({ error, retry }) => html`
  <${Notice} kind="bad"><p>${error.message}</p>${retry !== undefined && html`<p><${Button} tiny onClick=${retry}>Try again<//></p>`}<//>
`;

const ICONS = { good: 'check', warn: 'warn', bad: 'warn', '': 'info' };

/** `bad` is announced at once. @param {{ kind?: 'good' | 'warn' | 'bad' | '', children?: any, [attribute: string]: any }} props */
export const Notice = ({ kind = '', children, ...rest }) => html`
  <div class=${`notice ${kind}`} role=${kind === 'bad' ? 'alert' : undefined} ...${rest}><${Icon} name=${ICONS[kind]} /><div>${children}</div></div>
`;

/** @param {Error | undefined} error */
const isMissing = (error) => error instanceof ApiError && error.status === 404;

/** @param {{ live: Live<any>, children: (value: any) => any }} props */
export function Loaded({ live, children }) {
  const { value, error, refresh } = live;
  const isInBanner = error !== undefined && isUnavailable(error);
  if (value === undefined) {
    if (isInBanner) return html`<p class="soft">Not loaded yet.</p>`;
    if (isMissing(error))
      return html`<${Empty} icon="search" title="Not found"><p>It may have been deleted. <a href=${link('/feeds')}>Feeds</a> shows recently deleted lists and feeds.</p><//>`;
    return error === undefined ? html`<${Loading} />` : html`<${Failed} error=${error} retry=${refresh} />`;
  }
  return html`
    ${error !== undefined && !isInBanner && html`<${Notice} kind="warn">${isMissing(error) ? 'It was deleted.' : sentence(error.message)} Showing older data.<//>`}
    ${children(value)}
  `;
}
