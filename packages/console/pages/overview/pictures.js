import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { useLiveWork } from '../../data.js';
import { SelectField } from '../../ui/field.js';
import { Loaded } from '../../ui/states.js';
import { AddressSpace } from '../feeds/address-space.js';
import { builtOf, WORKSPACE_FEED } from '../feeds/feed-state.js';
import { readFeeds } from '../feeds/read-feeds.js';
import { DeviceStrip } from './device-strip.js';
import { RulesHistory } from './rules-history.js';
import { Top } from './top.js';

/** @param {{ session: Session }} props */
export const Pictures = ({ session }) => html`
  <${DeviceStrip} />
  <${RulesHistory} />
  <${Top} session=${session} />
  <${Space} />
`;

/** Begins with the largest feed that is counted: asking for one that nobody fetches would build it. */
function Space() {
  const live = useLiveWork('feeds', readFeeds, { every: 300_000 });
  const [chosen, setChosen] = useState(/** @type {string | undefined} */ (undefined));
  return html`<${Loaded} live=${live}>${(/** @type {FeedRow[]} */ feeds) => {
    const size = (/** @type {FeedRow} */ feed) => builtOf(feed)?.entries ?? -1;
    const largest = feeds.reduce((most, feed) => (size(feed) > size(most) ? feed : most));
    const id = chosen ?? largest.id;
    return html`
      <div class="form-row" style=${{ maxWidth: '14rem' }}>
        <${SelectField} label="Address space of" value=${id} onValue=${setChosen} options=${feeds.map((feed) => ({ value: feed.id, label: feed.name }))} />
      </div>
      <${AddressSpace} key=${id} feed=${id === WORKSPACE_FEED ? undefined : id} />
    `;
  }}<//>`;
}
