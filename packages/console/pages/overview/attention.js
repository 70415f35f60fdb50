import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { ask, manage } from '../../api.js';
import { useAttention } from '../../attention.js';
import { useWork } from '../../data.js';
import { counted, dateTime, durations } from '../../format.js';
import { keyName, useNames } from '../../names.js';
import { helpAt } from '../../router.js';
import { may } from '../../session.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { FormDialog } from '../../ui/dialog.js';
import { SelectField, TextField } from '../../ui/field.js';
import { Failed, Loaded, Notice } from '../../ui/states.js';
import { Countdown } from '../../ui/time.js';
import { documentOf, placeOf, sentenceOf } from './attention-words.js';

const ADDRESS = manage('/attention/snoozes');

/** @param {{ session: Session }} props */
export function Attention({ session }) {
  const live = useAttention(15_000);
  const { feedOf } = useNames(session);
  const [putOff, setPutOff] = useState(/** @type {AlertItem | undefined} */ (undefined));
  const maySnooze = may(session, 'rules:write');
  return html`
    <${Loaded} live=${live}>${(/** @type {AlertItem[]} */ items) => {
      const open = items.filter(({ snooze }) => snooze === null);
      const snoozed = items.filter(({ snooze }) => snooze !== null);
      const one = (/** @type {AlertItem} */ item, note, button) => html`
        <li key=${item.key} class="attention">
          <${Badge} kind=${item.urgent ? 'bad' : 'warn'}>${item.urgent ? 'Urgent' : 'Low'}<//>
          <div><span class="text">${sentenceOf(item)}</span>${note}</div>
          <span class="row"><${Way} item=${item} session=${session} feedOf=${feedOf} />${button}</span>
        </li>
      `;
      return html`
        ${open.length === 0 && html`<${Notice} kind="good">Nothing needs attention.<//>`}
        ${
          open.length > 0 &&
          html`<${Card} title="Needs attention" aria-label="Needs attention">
            <ul class="stack">
              ${open.map((item) => one(item, undefined, maySnooze && html`<${Button} tiny aria-label=${`Snooze: ${sentenceOf(item)}`} onClick=${() => setPutOff(item)}>Snooze<//>`))}
            </ul>
          <//>`
        }
        ${
          snoozed.length > 0 &&
          html`<details>
            <summary>${counted(snoozed.length, 'snoozed alert')}</summary>
            <ul class="stack card">
              ${snoozed.map((item) => one(item, html`<${Why} snooze=${item.snooze} />`, maySnooze && html`<${Again} item=${item} onDone=${live.refresh} />`))}
            </ul>
          </details>`
        }
        ${putOff !== undefined && html`<${PutOff} item=${putOff} onClose=${() => setPutOff(undefined)} onDone=${live.refresh} />`}
      `;
    }}<//>
  `;
}

/** @param {{ item: AlertItem, session: Session, feedOf: Names['feedOf'] }} props */
function Way({ item, session, feedOf }) {
  const place = placeOf(item, session, feedOf);
  const document = documentOf(item);
  return html`
    ${place && html`<a href=${place.href}>${place.action}</a>`}
    ${document !== undefined && html`<a href=${helpAt(document)} target="_blank" rel="noopener" aria-label=${`Help: ${sentenceOf(item)}`}>Help</a>`}
  `;
}

/** @param {{ snooze: Snooze }} props */
const Why = ({ snooze, snooze: { actor, reason, since, until } }) => html`
  <p class="small soft text">Snoozed by <bdi>${actor ?? (keyName(snooze) || 'a command')}</bdi> on ${dateTime(since)}: <bdi>${reason}</bdi>. Returns in <${Countdown} until=${until} />.</p>
`;

/** @param {{ item: AlertItem, onDone: () => void }} props */
function Again({ item, onDone }) {
  const { busy, error, run } = useWork();
  const end = () =>
    run(async () => {
      await ask(`${ADDRESS}/${item.snooze?.id}`, { method: 'DELETE' });
      onDone();
    });
  return html`<${Button} tiny busy=${busy} aria-label=${`End snooze: ${sentenceOf(item)}`} onClick=${end}>End snooze<//>${error !== undefined && html`<${Failed} error=${error} />`}`;
}

/** @param {{ item: AlertItem, onClose: () => void, onDone: () => void }} props */
function PutOff({ item, onClose, onDone }) {
  const [reason, setReason] = useState('');
  const [seconds, setSeconds] = useState('86400');
  const body = { key: item.key, reason: reason.trim(), expires_in: Number(seconds) };
  return html`
    <${FormDialog} title="Snooze" action="Snooze" request=${{ address: ADDRESS, body }}
      done=${() => 'Alert snoozed.'} onDone=${onDone} onClose=${onClose} disabled=${body.reason === ''}>
      <p class="text">${sentenceOf(item)}</p>
      <${TextField} label="Reason" hint="Visible to everyone, such as an owner or ticket." value=${reason} onValue=${setReason} maxlength="200" required autofocus />
      <${SelectField} label="For" value=${seconds} onValue=${setSeconds} options=${durations('1h', '8h', '1d', '3d', '7d', '30d')} />
      <p class="small soft">The alert moves to a folded list with your name. It returns earlier if its state changes. Webhooks and the API still report it.</p>
    <//>
  `;
}
