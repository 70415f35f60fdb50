import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { ask, manage } from '../api.js';
import { curlOf } from '../curl.js';
import { useLive } from '../data.js';
import { counted, dateTime } from '../format.js';
import { useKeyset } from '../keyset.js';
import { Button } from '../ui/button.js';
import { Code } from '../ui/code.js';
import { Confirm, Dialog } from '../ui/dialog.js';
import { CheckField } from '../ui/field.js';
import { Facts } from '../ui/figures.js';
import { LongList } from '../ui/long-list.js';
import { PageHead } from '../ui/page-head.js';
import { Empty, Loaded, Notice } from '../ui/states.js';
import { Ago } from '../ui/time.js';
import { toast } from '../ui/toast.js';

const MOST_IDS = 100;
const REPLAY = manage('/dead-letter-replays');
const addressOf = (id) => manage(`/dead-letters/${id}`);

/** @param {number[]} ids */
const inParts = (ids) => Array.from({ length: Math.ceil(ids.length / MOST_IDS) }, (_, i) => ids.slice(i * MOST_IDS, (i + 1) * MOST_IDS));

const WORKS = {
  replay: {
    label: 'Replay',
    danger: false,
    done: 'sent again',
    about: 'weir processes them again, with their original time of arrival. Messages that fail again return here under a new number.',
    requests: (ids) => inParts(ids).map((part) => ({ address: REPLAY, method: 'POST', body: { ids: part } })),
  },
  drop: {
    label: 'Drop',
    danger: true,
    done: 'dropped',
    about: 'The messages are deleted and never become rules.',
    requests: (ids) => ids.map((id) => ({ address: addressOf(id), method: 'DELETE' })),
  },
};
const LIMIT = 50;

/** @param {PageProps} _props */
export function Page(_props) {
  const { items, isComplete, error, refresh, onSight } = useKeyset('/dead-letters', 'dead_letters', {}, { limit: LIMIT, keyOf });
  const [chosen, setChosen] = useState(/** @type {ReadonlySet<number>} */ (new Set()));
  const [selected, setSelected] = useState(/** @type {number | undefined} */ (undefined));
  const [asked, setAsked] = useState(/** @type {{ work: keyof typeof WORKS, ids: number[] } | undefined} */ (undefined));
  const there = items ?? [];
  const ids = there.map(keyOf).filter((id) => chosen.has(id));
  const choose = (id, on) => setChosen((before) => (on ? new Set([...before, id]) : new Set([...before].filter((each) => each !== id))));
  const onWork = (/** @type {keyof typeof WORKS} */ work) => {
    setSelected(undefined);
    setAsked({ work, ids: selected === undefined ? [] : [selected] });
  };
  const onDone = () => {
    setChosen(new Set());
    void refresh();
  };
  return html`
    <${PageHead} title="Dead letters">Messages weir could not process. They have no effect on rules.<//>
    <${Loaded} live=${{ value: items, error, refresh }}>${() =>
      there.length === 0 && html`<${Empty} icon="check" title="No dead letters"><p>No failed messages.</p><//>`}<//>
    ${
      there.length > 0 &&
      html`
        <div class="stack">
          <div class="list-head">
            <${CheckField} label=${ids.length === 0 ? 'Select all' : `${counted(ids.length, 'letter')} selected`}
              checked=${ids.length === there.length}
              onValue=${(on) => setChosen(new Set(on ? there.map(keyOf) : []))} />
            <div class="row">
              <${Button} disabled=${ids.length === 0} onClick=${() => setAsked({ work: 'replay', ids })}>Replay<//>
              <${Button} kind="danger" disabled=${ids.length === 0} onClick=${() => setAsked({ work: 'drop', ids })}>Drop<//>
            </div>
          </div>
          <${LongList} label="Dead letters" columns=${columns(chosen, choose)} rows=${there} keyOf=${keyOf} onSight=${onSight}
            total=${isComplete ? there.length : -1} onRow=${(/** @type {DeadLetter} */ { id }) => setSelected(id)} />
        </div>
      `
    }
    ${selected !== undefined && html`<${LetterDialog} key=${selected} id=${selected} onClose=${() => setSelected(undefined)} onWork=${onWork} />`}
    ${asked !== undefined && html`<${Ask} asked=${asked} onClose=${() => setAsked(undefined)} onDone=${onDone} />`}
  `;
}

const keyOf = (/** @type {DeadLetter} */ { id }) => id;

/**
 * @param {ReadonlySet<number>} chosen
 * @param {(id: number, on: boolean) => void} choose
 * @returns {LongColumn<DeadLetter>[]}
 */
const columns = (chosen, choose) => [
  {
    label: 'No.',
    width: '4rem',
    cell: ({ id }) => html`
      <label class="check" onClick=${(event) => event.stopPropagation()}>
        <input type="checkbox" aria-label=${`Select ${id}`} checked=${chosen.has(id)} onChange=${(event) => choose(id, event.target.checked)} /><span>${id}</span>
      </label>
    `,
  },
  { label: 'Since', width: '6.5rem', cell: ({ at }) => html`<${Ago} at=${at} />` },
  { label: 'Reason', width: 'minmax(8rem, 1.2fr)', cell: ({ reason }) => html`<bdi>${reason}</bdi>` },
  { label: 'Message', width: 'minmax(8rem, 2fr)', secondary: true, cell: ({ value }) => html`<bdi class="mono soft">${value}</bdi>` },
];

/** @param {{ id: number, onClose: () => void, onWork: (work: keyof typeof WORKS) => void }} props */
function LetterDialog({ id, onClose, onWork }) {
  const live = useLive(addressOf(id), { every: 60_000 });
  const footer = html`<${Button} kind="danger" onClick=${() => onWork('drop')}>Drop<//><${Button} kind="main" onClick=${() => onWork('replay')}>Replay<//>`;
  return html`
    <${Dialog} title=${`Dead letter ${id}`} wide onClose=${onClose} footer=${footer}>
      <${Loaded} live=${live}>${(/** @type {DeadLetter} */ letter) => html`
        <${Notice} kind="warn"><span class="text">${letter.reason}</span><//>
        <${Facts} facts=${[
          ['Failed', dateTime(letter.at)],
          ['Accepted', dateTime(letter.timestamp)],
          ['Stream', `partition ${letter.partition}, offset ${letter.offset}`],
          ['Headers', html`<span class="mono">${JSON.stringify(letter.headers, null, 1)}</span>`],
        ]} />
        <${Code} text=${indented(letter.value)} label="The message" />
      `}<//>
    <//>
  `;
}

/** @param {string} text */
function indented(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** @param {{ asked: { work: keyof typeof WORKS, ids: number[] }, onClose: () => void, onDone: () => void }} props */
function Ask({ asked: { work, ids }, onClose, onDone }) {
  const { label, danger, done, about, requests } = WORKS[work];
  const submit = async () => {
    for (const { address, ...request } of requests(ids)) await ask(address, request);
    toast(`${counted(ids.length, 'dead letter was', 'dead letters were')} ${done}.`);
    onDone();
  };
  const curl = requests(ids)
    .map(({ method, address, body }) => curlOf(method, address, body))
    .join('\n');
  return html`
    <${Confirm} title=${`${label} ${counted(ids.length, 'dead letter')}?`} action=${label} danger=${danger} work=${submit}
      curl=${curl} onClose=${onClose}>
      <p>${about}</p>
    <//>
  `;
}
