import { html } from 'htm/preact';

/** @param {{ label: string, tabs: readonly { href: string, label: any, current: boolean }[] }} props */
export const Tabs = ({ label, tabs }) => html`
  <nav class="tabs" aria-label=${label}>
    ${tabs.map((tab) => html`<a key=${tab.href} href=${tab.href} aria-current=${tab.current ? 'page' : undefined}>${tab.label}</a>`)}
  </nav>
`;
