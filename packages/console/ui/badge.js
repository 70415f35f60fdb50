import { html } from 'htm/preact';

/** @param {{ kind?: 'good' | 'warn' | 'bad' | 'accent' | '', children?: any }} props */
export const Badge = ({ kind = '', children }) => html`<span class=${`badge ${kind}`}>${children}</span>`;
