/** A part of a page with a heading of its own. */
import { html } from 'htm/preact';

/** @param {{ title?: any, note?: any, actions?: any, children?: any, [attribute: string]: any }} props */
export const Card = ({ title, note, actions, children, ...rest }) => html`
  <section class="card" ...${rest}>
    ${title !== undefined && html`<header><h2>${title}</h2>${actions}${note !== undefined && html`<p class="small">${note}</p>`}</header>`}
    ${children}
  </section>
`;
