import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { ApiError, manage } from '../api.js';
import { curlOf } from '../curl.js';
import { useLive } from '../data.js';
import { count, counted } from '../format.js';
import { useNames } from '../names.js';
import { go, link, setQuery } from '../router.js';
import { may } from '../session.js';
import { Button } from '../ui/button.js';
import { Card } from '../ui/card.js';
import { SameWithCurl } from '../ui/code.js';
import { SelectField, TextField } from '../ui/field.js';
import { later } from '../ui/later.js';
import { PageHead } from '../ui/page-head.js';
import { Empty, Failed, Loaded, Notice } from '../ui/states.js';
import { FeedByFeed } from './lookup/feed-cards.js';
import { History } from './lookup/history.js';
import { Past } from './lookup/past.js';
import { Path } from './lookup/path.js';
import { extended, modelOf, staying } from './lookup/path-model.js';
import { having, publishing, Sentence } from './lookup/sentence.js';
import { Stays } from './lookup/stays.js';
import { targetsOf } from './lookup/targets.js';
import { BlockForm } from './rules/block.js';
import { UnblockForm } from './rules/unblock.js';

const AllowForm = later(() => import('./lookup/allow.js'), 'AllowForm');
const SplitForm = later(() => import('./lookup/allow.js'), 'SplitForm');
const ChangeRules = later(() => import('./rules/change-rules.js'), 'ChangeRules');

/** Poll interval, ms: each answer checks all devices. */
const EVERY = 15_000;
const ACTIONS = [
  { value: 'block', label: 'Block feeds' },
  { value: 'allow', label: 'Allow feeds' },
];

/** @param {PageProps} props */
export function Page({ session, place }) {
  const text = place.query.get('target') ?? '';
  const action = place.query.get('action') === 'allow' ? 'allow' : 'block';
  const at = place.query.get('at') ?? '';
  const asked = targetsOf(text);
  const targets = asked.flatMap((each) => ('target' in each ? [each.target] : []));
  return html`
    <${PageHead} title="Look up">See who blocks an address, why, and on which devices.<//>
    <${AskedFor} key=${`${text} ${at}`} text=${text} action=${action} at=${at} />
    ${asked.map((each) => 'name' in each && html`<${Notice} key=${each.name}><bdi>${each.name}</bdi> is a host name. Look up its addresses instead.<//>`)}
    ${asked.map((each) => 'wrong' in each && html`<${Notice} key=${each.wrong}><bdi>${each.wrong}</bdi> is not an address, network, ASN or country.<//>`)}
    ${
      text.trim() === '' &&
      html`<${Empty} icon="search" title="Look up an address"><p>Enter an IP, network, ASN or country – pasted from a report is fine. <kbd>/</kbd> opens the search on any page.</p><//>`
    }
    ${
      at !== ''
        ? targets.map((target) => html`<${Past} key=${target} target=${target} action=${action} at=${at} />`)
        : targets.length === 1
          ? html`<${One} key=${targets[0]} target=${targets[0]} action=${action} session=${session} />`
          : targets.map((target) => html`<${Row} key=${target} target=${target} action=${action} />`)
    }
  `;
}

/** @param {{ text: string, action: string, at: string }} props */
function AskedFor({ text: given, action, at }) {
  const [text, setText] = useState(given);
  const [time, setTime] = useState(at);
  const submit = (event) => {
    event.preventDefault();
    if (text.trim() !== '')
      go(`${link('/lookup')}?${new URLSearchParams({ target: text.trim(), action, ...(time.trim() !== '' && { at: time.trim() }) })}`);
  };
  return html`
    <form class="asked" onSubmit=${submit}>
      <${TextField} label="Address, network, ASN or country" value=${text} onValue=${setText} maxlength="2000" autocomplete="off"
        spellcheck=${false} placeholder="45[.]83[.]64[.]1, hxxp://192.0.2.7:8080, AS64500, NL" />
      <${SelectField} label="Feeds" value=${action} onValue=${(value) => setQuery({ action: value })}
        options=${ACTIONS} />
      <${TextField} label="At" value=${time} onValue=${setTime} maxlength="40" placeholder="now, 30d, 2026-09-01T12:00Z" />
      <${Button} kind="main" type="submit">Look up<//>
    </form>
  `;
}

/** Whether a retry would be refused too (409), as for a country with too many rules. @param {Error} error */
const isRefused = (error) => error instanceof ApiError && error.status === 409 && !/try again/.test(error.message);

/** @param {{ target: string, action: string }} props */
function Row({ target, action }) {
  const { value, error } = useLive(manage('/lookup', { target, action, path: true }), { every: 60_000 });
  const href = `${link('/lookup')}?${new URLSearchParams({ target, action })}`;
  return html`
    <${Notice} kind=${toneOf(value)}>
      <a class="text" href=${href}>${value === undefined ? target : html`<${Sentence} answer=${value} />`}</a>
      ${value === undefined && (error === undefined ? ' …' : ` ${wrongText(error)}`)}
    <//>
  `;
}

/** @param {LookupAnswer | undefined} answer @returns {'bad' | 'good' | 'warn' | ''} */
function toneOf(answer) {
  if (answer === undefined || having(answer).length === 0) return '';
  if (publishing(answer).length === 0) return 'warn';
  return answer.action === 'block' ? 'bad' : 'good';
}

/** @param {Error} error */
const wrongText = (error) => (error instanceof ApiError && error.faults.length > 0 ? error.faults[0].message : error.message);

/** @param {{ target: string, action: string, session: Session }} props */
function One({ target, action, session }) {
  const names = useNames(session);
  const [open, setOpen] = useState(/** @type {LookupForm | undefined} */ (undefined));
  const address = manage('/lookup', { target, action, path: true });
  const live = useLive(address, { every: EVERY });
  const opened = { names, onClose: () => setOpen(undefined), onDone: live.refresh };
  if (live.value === undefined && live.error instanceof ApiError && live.error.faults.length > 0) {
    return html`<${Notice}><bdi>${target}</bdi> ${live.error.faults[0].message}.<//>`;
  }
  if (live.value === undefined && live.error !== undefined)
    return html`<${Failed} error=${live.error} retry=${isRefused(live.error) ? undefined : live.refresh} />`;
  return html`
    <${Loaded} live=${live}>${(/** @type {LookupAnswer} */ answer) => html`
      <${Found} answer=${answer} mayChange=${may(session, 'rules:write')} maySet=${may(session, 'manage')} onOpen=${setOpen} onDone=${live.refresh} />
    `}<//>
    <${SameWithCurl} text=${curlOf('GET', address)} />
    ${open?.form === 'block' && html`<${BlockForm} value=${open.value} action=${open.action} ...${opened} />`}
    ${open?.form === 'allow' && html`<${AllowForm} target=${target} maySet=${may(session, 'manage')} ...${opened} />`}
    ${open?.form === 'split' && html`<${SplitForm} target=${target} ...${opened} />`}
    ${open?.form === 'extend' && html`<${ChangeRules} selection=${{ kind: 'access_rule', ids: open.ids }} ...${opened} />`}
    ${open?.form === 'unblock' && html`<${UnblockForm} value=${open.value} ...${opened} />`}
  `;
}

/** Inside a wider block that no source manages. @param {LookupAnswer} answer */
const isInsideOwn = ({ target, feeds }) =>
  /[.:]/.test(target) &&
  feeds.some(({ rules }) =>
    rules.some(
      ({ action, effect, relation, source }) => action === 'block' && effect === 'in' && relation === 'covering' && source === null,
    ),
  );

/** @param {{ lists: LookupAnswer['dropped'] }} props */
const Dropped = ({ lists }) => html`
  <p class="small soft">Hits reported by bouncers in 30 days: ${lists.map(({ list, hits }, i) => html`${i > 0 && ', '}<bdi key=${list}>${list}</bdi> ${count(hits)}`)}.</p>
`;

/** The licence of the ASN data requires attribution, with links. @param {{ text: string }} props */
const Attribution = ({ text }) => html`
  <p class="small soft">ASN data by ${text.split(/(https:\/\/[\w./-]+\w)/).map((part, i) => (i % 2 === 1 ? html`<a key=${i} href=${part} target="_blank" rel="noopener">${part}</a>` : part))}.</p>
`;

/** @param {{ answer: LookupAnswer, mayChange: boolean, maySet: boolean, onOpen: (open: LookupForm) => void, onDone: () => void }} props */
function Found({ answer, mayChange, maySet, onOpen, onDone }) {
  const [outlook, setOutlook] = useState(/** @type {Outlook | undefined} */ (undefined));
  const { target, action, feeds } = answer;
  const isIn = having(answer).length > 0;
  const longer = extended(answer);
  const leave = () => setOutlook(undefined);
  const act = (/** @type {Outlook} */ name, label, /** @type {LookupForm} */ open, kind = '') => html`
    <${Button} kind=${kind} onMouseEnter=${() => setOutlook(name)} onFocus=${() => setOutlook(name)} onClick=${() => onOpen(open)}>${label}<//>
  `;
  const actions =
    mayChange &&
    action === 'block' &&
    (isIn
      ? html`
          ${act('unblock', 'Unblock', { form: 'unblock', value: target })}
          ${act('never', 'Allow', { form: 'allow' })}
          ${isInsideOwn(answer) && html`<${Button} onClick=${() => onOpen({ form: 'split' })}>Split the block<//>`}
          ${longer.length > 0 && act('extend', 'Extend', { form: 'extend', ids: longer.map(({ id }) => id) })}
        `
      : html`<${Button} kind="main" onClick=${() => onOpen({ form: 'block', value: target })}>Block<//>`);
  const model = modelOf(answer, outlook);
  const concerned = model.columns.some(({ nodes }) => nodes.length > 0);
  return html`
    <div class="stack" onMouseLeave=${leave} onKeyDown=${(event) => event.key === 'Escape' && leave()}>
      <div class=${`verdict ${toneOf(answer)}`} role="status"><p><${Sentence} answer=${answer} /></p><div class="row">${actions}</div></div>
      ${
        concerned
          ? html`<${Card} class="card path-card">
              <${Path} model=${model} label=${`From senders through rules and feeds to devices: ${model.columns.map(({ title, nodes }) => `${title}: ${nodes.map((node) => node.title).join(', ') || 'none'}`).join('; ')}`} />
              ${outlook !== undefined && html`<${Stays} answer=${answer} outlook=${outlook} stays=${staying(answer, outlook)} mayChange=${mayChange} maySet=${maySet} onOpen=${onOpen} onDone=${onDone} />`}
            <//>`
          : html`<p class="soft">No rules match.</p>`
      }
    </div>
    ${(answer.devices_left_out_feeds ?? 0) > 0 && html`<p class="small soft">Devices of ${counted(answer.devices_left_out_feeds ?? 0, 'more feed')} are not shown.</p>`}
    ${answer.dropped.length > 0 && html`<${Dropped} lists=${answer.dropped} />`}
    ${answer.where?.attribution && html`<${Attribution} text=${answer.where.attribution} />`}
    ${answer.history !== undefined && html`<${Card} title="History" note="Its rules and those of networks around it, as far back as an undo reaches."><${History} events=${answer.history} /><//>`}
    <details id="feeds" open=${feeds.length <= 6}><summary>All feeds and rules</summary>
      <div class="stack"><${FeedByFeed} target=${target} action=${action} feeds=${feeds} /></div>
    </details>
  `;
}
