import { html } from 'htm/preact';
import { ask } from '../../api.js';
import { useLive, useWork } from '../../data.js';
import { andMore, count, counted } from '../../format.js';
import { Button } from '../../ui/button.js';
import { save } from '../../ui/save.js';
import { Failed, Loaded } from '../../ui/states.js';
import { addressOf } from './source-state.js';

const MOST = 100_000;
const SIDES = /** @type {const} */ (['added', 'removed']);

/** @param {{ id: string }} props */
export function HeldAddresses({ id }) {
  const live = useLive(addressOf(id, 'held/addresses'), { every: 300_000 });
  const work = useWork();
  const download = (/** @type {string} */ side) =>
    work.run(async () => {
      const { body } = await ask(`${addressOf(id, 'held/addresses')}?limit=${MOST}`);
      save(`${side}.txt`, new Blob([`${body[side].networks.join('\n')}\n`], { type: 'text/plain' }));
    });
  return html`
    <${Loaded} live=${live}>${(held) =>
      SIDES.map((side) => {
        const { count: all, networks, detections } = held[side];
        if (all === 0) return null;
        const most = all > MOST ? `the first ${count(MOST)} ` : '';
        return html`
          <h3>${counted(all, 'network')} ${side}</h3>
          <p><code>${networks.join(', ')}</code>${andMore(all, networks.length)}</p>
          <p>${detections === 0 ? 'None of your own blocks is among them.' : `${counted(detections, 'of your own blocks has', 'of your own blocks have')} addresses in them.`}</p>
          <p><${Button} tiny disabled=${work.busy} onClick=${() => download(side)}>Download ${most}${side}<//></p>
        `;
      })}<//>
    ${work.error !== undefined && html`<${Failed} error=${work.error} />`}
  `;
}
