/** One feed. */
import { html } from 'htm/preact';
import { link } from '../router.js';
import { PageHead } from '../ui/page-head.js';

/** @param {{ id: string, session: import('../session.js').Session, place: import('../router.js').Place }} props */
export function FeedPage({ id }) {
  return html`<${PageHead} title=${id} back=${{ href: link('/feeds'), label: 'Feeds' }} />`;
}
