import { html } from 'htm/preact';
import { Badge } from '../../ui/badge.js';

/** @type {Record<number, string>} */
const MEANINGS = {
  401: 'the key is not valid',
  402: 'the subscription is not active',
  403: 'the key may not read it',
  404: 'there is none by this name',
  413: 'the feed is over its cap',
  429: 'it asks too often',
};

/** @param {number} status */
export const refusedText = (status) => (status === 413 ? 'not published' : `refused ${status}`);

/** @param {number} status */
export const whyRefused = (status) => `${status}${MEANINGS[status] === undefined ? '' : `: ${MEANINGS[status]}`}`;

/** @param {{ status: number }} props */
export const Refused = ({ status }) => html`<${Badge} kind="warn">${refusedText(status)}<//>`;
