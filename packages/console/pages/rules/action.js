import { html } from 'htm/preact';
import { Badge } from '../../ui/badge.js';

/** @type {Record<string, 'bad' | 'good' | 'warn'>} */
const KINDS = { block: 'bad', allow: 'good', challenge: 'warn', ratelimit: 'warn' };

/** @param {{ action: string }} props */
export const Action = ({ action }) => html`<${Badge} kind=${KINDS[action] ?? ''}>${action}<//>`;
