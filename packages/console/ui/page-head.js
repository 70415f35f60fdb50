import { html } from 'htm/preact';
import { Icon } from './icon.js';

/**
 * @param {{ title: any, back?: { href: string, label: string }, actions?: any, children?: any }} props The children say what the page
 *   shows.
 */
export const PageHead = ({ title, back, actions, children }) => html`
  <div class="page-head">
    <div>
      ${back !== undefined && html`<a class="crumb row" href=${back.href}><${Icon} name="back" size=${14} />${back.label}</a>`}
      <h1 class="text">${title}</h1>
      ${children !== undefined && html`<p>${children}</p>`}
    </div>
    ${actions !== undefined && html`<div class="row">${actions}</div>`}
  </div>
`;
