/** The overview: what needs attention first. */
import { html } from 'htm/preact';
import { PageHead } from '../ui/page-head.js';

/** @param {import('../pages.js').PageProps} _props */
export function Page(_props) {
  return html`<${PageHead} title="Overview" />`;
}
