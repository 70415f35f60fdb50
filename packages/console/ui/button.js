import { html } from 'htm/preact';
import { Icon } from './icon.js';

/**
 * @param {{ kind?: 'main' | 'danger' | 'quiet' | '', tiny?: boolean, icon?: string, busy?: boolean, disabled?: boolean, type?: string,
 * onClick?: (event: Event) => void, children?: any, [attribute: string]: any }} props `busy`: cannot be pressed again until it is done.
 */
export const Button = ({ kind = '', tiny = false, icon, busy = false, disabled = false, type = 'button', children, ...rest }) => html`
  <button type=${type} class=${`button ${kind} ${tiny ? 'tiny' : ''}`} disabled=${disabled || busy} aria-busy=${busy} ...${rest}>
    ${icon !== undefined && html`<${Icon} name=${icon} size=${16} />`}${children}
  </button>
`;

/** @param {{ icon: string, label: string, [attribute: string]: any }} props */
export const IconButton = ({ icon, label, ...rest }) => html`
  <button type="button" class="button quiet icon" aria-label=${label} title=${label} ...${rest}><${Icon} name=${icon} size=${16} /></button>
`;
