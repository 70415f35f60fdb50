import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { ask, manage } from '../../api.js';
import { useWork } from '../../data.js';
import { counted } from '../../format.js';
import { may } from '../../session.js';
import { Button } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { Code } from '../../ui/code.js';
import { SelectField } from '../../ui/field.js';
import { Failed, Notice } from '../../ui/states.js';
import { whyRefused } from '../clients/refused.js';
import { KEY, SET_UPS } from './setup.js';

/** Poll interval, ms. */
const LOOK = 2000;

/** @param {{ feed: FeedRow, address: string, path: string, session: Session }} props */
export function SetUpCard({ feed, address, path, session }) {
  const [name, setName] = useState(SET_UPS[0].name);
  const [made, setMade] = useState(/** @type {{ id: string, key: string | null } | undefined} */ (undefined));
  const { busy, error, run } = useWork();
  const chosen = SET_UPS.find((each) => each.name === name) ?? SET_UPS[0];
  const choose = (next) => {
    setName(next);
    setMade(undefined);
  };
  const make = () =>
    run(async () => {
      const body = keyOf(feed, chosen, `${chosen.name}, ${feed.name}`);
      setMade((await ask(manage('/keys'), { method: 'POST', once: crypto.randomUUID(), body })).body);
    });
  const text = chosen.text({ address, origin: location.origin, path });
  const key = made?.key ?? undefined;
  return html`
    <${Card} title="Set up a device" note=${`Each device gets its own key. It can only ${mayText(feed, chosen)}.`}>
      ${error !== undefined && html`<${Failed} error=${error} />`}
      <div class="form-row">
        <${SelectField} label="Device" value=${name} onValue=${choose} options=${SET_UPS.map((each) => ({ value: each.name, label: each.name }))} hint=${chosen.advice} />
      </div>
      ${key !== undefined && html`<${Notice} kind="warn">These lines contain the key. Copy them now: weir stores only a hash and cannot show the key again.<//>`}
      <${Code} label=${`Set-up for ${name}`} text=${key === undefined ? text : withKey(text, key)} />
      ${made === undefined && may(session, 'keys:write') && may(session, chosen.needs ?? 'feed:read') && html`<div class="row"><${Button} kind="main" icon="keys" busy=${busy} onClick=${make}>Create key<//></div>`}
      ${made !== undefined && html`<${FirstPull} key=${made.id} keyId=${made.id} feed=${feed} isBouncer=${name === 'Bouncer'} />`}
    <//>
  `;
}

/** @param {Pick<FeedRow, 'kind' | 'id'>} feed @param {SetUp} setUp @param {string} name */
export function keyOf({ kind, id }, { needs }, name) {
  const bound = needs !== undefined || kind === 'workspace' ? {} : kind === 'list' ? { list: id } : { feed: id };
  return { name: name.slice(0, 200), permissions: [needs ?? 'feed:read'], ...bound };
}

/** @param {FeedRow} feed @param {SetUp} setUp */
function mayText({ kind }, { needs }) {
  if (needs !== undefined) return 'read the agent configuration of the whole workspace';
  return kind === 'workspace' ? 'fetch the feeds of the workspace' : 'fetch this feed';
}

/** @param {string} text @param {string} key */
export const withKey = (text, key) => (text.includes(KEY) ? text.replaceAll(KEY, key) : `${text}\n\n# key: ${key}`);

/** @param {{ keyId: string, feed: Pick<FeedRow, 'id'>, isBouncer: boolean }} props */
export function FirstPull({ keyId, feed, isBouncer }) {
  const [got, setGot] = useState(/** @type {{ who: string, status: number, entries: number | undefined } | undefined} */ (undefined));
  useEffect(() => {
    if (got !== undefined && got.status < 400) return;
    const timer = setInterval(
      () =>
        void look(keyId, feed, isBouncer).then(
          (found) => found && setGot(found),
          () => undefined,
        ),
      LOOK,
    );
    return () => clearInterval(timer);
  }, [got]);
  return html`
    <div aria-live="polite">
      ${got === undefined && html`<p class="loading">Waiting for the first fetch…</p>`}
      ${got !== undefined && got.status >= 400 && html`<${Notice} kind="bad">weir refused ${got.who} (${whyRefused(got.status)}). Waiting for the next fetch…<//>`}
      ${got !== undefined && got.status < 400 && html`<${Notice} kind="good"><strong>Connected.</strong> ${got.who} fetched ${got.entries === undefined ? 'the feed' : counted(got.entries, 'entry', 'entries')}.<//>`}
    </div>
  `;
}

/** @param {string} keyId @param {Pick<FeedRow, 'id'>} feed @param {boolean} isBouncer */
async function look(keyId, feed, isBouncer) {
  if (isBouncer) {
    const { body } = await ask(manage('/bouncers', { limit: 1000 }));
    const bouncer = body.bouncers.find((each) => each.key_id === keyId);
    return (
      bouncer && { who: `${bouncer.user_agent} at ${bouncer.address}`, status: bouncer.refusal?.status ?? 200, entries: bouncer.decisions }
    );
  }
  const { body } = await ask(manage('/devices', { key: keyId, limit: 1 }));
  const [device] = body.devices;
  if (device === undefined) return undefined;
  const [document] = device.documents;
  const { format, family, action } = document ?? {};
  const isFeed = document !== undefined && device.last_status < 400 && (document.feed_id === null || document.feed_id === feed.id);
  const entries = isFeed
    ? await ask(manage('/content', { feed: document.feed_id ?? undefined, format, family, action, lines: 1 })).then(
        (answer) => answer.body.entries,
        () => undefined,
      )
    : undefined;
  return { who: `${device.user_agent} at ${device.address}`, status: device.last_status, entries };
}
