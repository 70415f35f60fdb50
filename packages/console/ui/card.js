import { html } from 'htm/preact';

/** @param {{ title?: any, note?: any, actions?: any, children?: any, class?: string, [attribute: string]: any }} props */
export const Card = ({ title, note, actions, children, class: kind = 'card', ...rest }) => html`
  <section class=${kind} ...${rest}>
    ${title !== undefined && html`<header><h2>${title}</h2>${actions}${note !== undefined && html`<p class="small">${note}</p>`}</header>`}
    ${children}
  </section>
`;
