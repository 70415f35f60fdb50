import { html } from 'htm/preact';
import { Badge } from '../../ui/badge.js';

/** @type {Record<number, string>} */
const MEANINGS = {
  401: 'the key is not valid',
  402: 'the subscription is not active',
  403: 'the key lacks the permission',
  404: 'no feed has this name',
  413: 'the feed is over its limit',
  429: 'too many requests',
};

/** @param {number} status */
export const refusedText = (status) => (status === 413 ? 'not published' : `refused ${status}`);

/** @param {number} status */
export const whyRefused = (status) => `${status}${MEANINGS[status] === undefined ? '' : `: ${MEANINGS[status]}`}`;

/** @param {{ status: number }} props */
export const Refused = ({ status }) => html`<${Badge} kind="warn">${refusedText(status)}<//>`;
