import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { ask, manage } from '../../api.js';
import { useWork } from '../../data.js';
import { count, counted, dateTime } from '../../format.js';
import { Button } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { Code } from '../../ui/code.js';
import { Figure, Figures } from '../../ui/figures.js';
import { save } from '../../ui/save.js';
import { Failed, Notice } from '../../ui/states.js';

const SHOWN = 200;
const IN_FILE = 200_000;

/** @param {{ window: ChangeWindow, name: string }} props `name`: of the feed. */
export function DifferenceCard({ window: { since, until, feed }, name }) {
  const asked = `${since} ${until} ${feed}`;
  const [found, setFound] = useState(/** @type {any} */ (undefined));
  const { busy, error, run } = useWork();
  const read = async (limit) => (await ask(manage('/difference', { since, until, feed, limit }))).body;
  const compare = () => run(async () => setFound({ asked, ...(await read(SHOWN)) }));
  const takeAlong = () => run(async () => save(`${name}.diff.txt`, new Blob([`${textOf(await read(IN_FILE))}\n`], { type: 'text/plain' })));
  const shown = found?.asked === asked ? found : undefined;
  return html`
    <${Card} title=${`Compare feed ${name}`} note="Networks added to and removed from the feed in this time."
      actions=${html`
        <div class="row">
          ${shown !== undefined && shown.added + shown.removed > 0 && html`<${Button} tiny busy=${busy} onClick=${takeAlong}>Download<//>`}
          <${Button} tiny busy=${busy} onClick=${compare}>Compare<//>
        </div>
      `}>
      ${error !== undefined && html`<${Failed} error=${error} />`}
      ${shown !== undefined && html`<${Difference} difference=${shown} />`}
    <//>
  `;
}

/** @param {{ difference: any }} props */
function Difference({ difference }) {
  const {
    since,
    until,
    before,
    after,
    added,
    removed,
    added_networks: came,
    removed_networks: went,
    settings_changed: settings,
  } = difference;
  const note = ({ over_cap: isOver }) => (isOver ? 'not published: over its limit' : undefined);
  return html`
    <${Figures}>
      <${Figure} label=${dateTime(since)} value=${counted(before.entries, 'entry', 'entries')} note=${note(before)} />
      <${Figure} label=${dateTime(until)} value=${counted(after.entries, 'entry', 'entries')} note=${note(after)} />
      <${Figure} label="Added" value=${counted(added, 'network')} />
      <${Figure} label="Removed" value=${counted(removed, 'network')} />
    <//>
    ${
      settings.length > 0 &&
      html`<${Notice} kind="warn">Settings changed in this time: ${settings
        .map(({ at, event, name }) => `${event}${name === null ? '' : ` (${name})`} ${dateTime(at)}`)
        .join('; ')}.<//>`
    }
    ${
      added + removed === 0
        ? html`<p class="soft">The feed had the same networks both times.</p>`
        : html`
          <${Code} label="Added and removed networks" text=${textOf(difference)} />
          ${came.length + went.length < added + removed && html`<p class="small soft">Showing the first ${count(went.length)} removed and ${count(came.length)} added; the download has ${added + removed > IN_FILE ? `up to ${count(IN_FILE)} of each` : 'all'}.</p>`}
        `
    }
  `;
}

/** @param {any} difference */
const textOf = ({ added_networks: came, removed_networks: went }) =>
  [...went.map((network) => `- ${network}`), ...came.map((network) => `+ ${network}`)].join('\n');
