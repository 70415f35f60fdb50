import { html } from 'htm/preact';

/** @param {{ children: any }} props */
export const Figures = ({ children }) => html`<dl class="figures">${children}</dl>`;

/** @param {{ label: string, value: any, note?: any }} props */
export const Figure = ({ label, value, note }) => html`
  <div class="figure"><dt>${label}</dt><dd>${value}</dd>${note !== undefined && html`<dd>${note}</dd>`}</div>
`;

/** Empty values are left out. @param {{ facts: readonly (readonly [name: string, value: any])[] }} props */
export const Facts = ({ facts }) => html`
  <dl class="facts">
    ${facts.filter(([, value]) => value !== undefined && value !== null && value !== '' && value !== false).map(([name, value]) => html`<dt key=${name}>${name}</dt><dd class="text">${value}</dd>`)}
  </dl>
`;
