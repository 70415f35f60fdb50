import { html } from 'htm/preact';
import { useEffect, useId, useState } from 'preact/hooks';
import { ask, manage } from '../api.js';
import { curlFile } from '../curl.js';
import { useWork } from '../data.js';
import { count, counted, dateTime, duration } from '../format.js';
import { Button } from '../ui/button.js';
import { Card } from '../ui/card.js';
import { SameWithCurl } from '../ui/code.js';
import { Dialog } from '../ui/dialog.js';
import { SelectField } from '../ui/field.js';
import { PageHead } from '../ui/page-head.js';
import { Plot } from '../ui/plot.js';
import { Failed, Notice } from '../ui/states.js';
import { Table } from '../ui/table.js';
import { ExpressionField } from './rules/expression.js';
import { RULE_TABS } from './rules/tabs.js';

/** Poll interval of a job, ms. */
const LOOK = 500;
const KINDS = RULE_TABS.filter(({ kind }) => kind !== 'access_rule').map(({ kind, label }) => ({ value: kind, label }));
const VIEWS = [
  { value: 'recorded', label: 'As recorded' },
  { value: 'agent', label: 'As the agent sees it' },
];

/** @param {PageProps} props */
export function Page({ place: { query } }) {
  const [file, setFile] = useState(/** @type {File | undefined} */ (undefined));
  const [form, setForm] = useState({ kind: query.get('kind') ?? 'waf_rule', as: 'recorded', expression: query.get('expression') ?? '' });
  const [job, setJob] = useState(/** @type {Trial | undefined} */ (undefined));
  const { busy, error, run } = useWork();
  const fileId = useId();
  const isRunning = job?.state === 'running';
  const address = manage('/backtests', { ...form, expression: form.expression.trim() });
  const addressOf = (/** @type {Trial} */ { id }) => manage(`/backtests/${id}`);
  const set = (field) => (text) => setForm((before) => ({ ...before, [field]: text }));

  useEffect(() => {
    if (job === undefined || !isRunning) return;
    const timer = setTimeout(
      () => void run(async () => setJob((await ask(addressOf(job))).body)).then((done) => done || setJob(undefined)),
      LOOK,
    );
    return () => clearTimeout(timer);
  }, [job]);

  const submit = (event) => {
    event.preventDefault();
    void run(async () => setJob((await ask(address, { method: 'POST', body: file })).body));
  };
  const cancel = () => run(async () => setJob((await ask(addressOf(/** @type {Trial} */ (job)), { method: 'DELETE' })).body));

  return html`
    <${PageHead} title="Backtest">Run your rules, or one expression, against recorded requests: a log of nginx, Apache, Envoy, Caddy or the agent, or a HAR file.<//>
    <form class="stack" onSubmit=${submit}>
      <div class="form-row">
        <div class="field">
          <label for=${fileId}>Recording</label>
          <input id=${fileId} class="input" type="file" aria-describedby=${`${fileId}-hint`} onChange=${(event) => setFile(event.target.files[0])} />
          <p class="hint" id=${`${fileId}-hint`}>Up to 16 MiB, optionally gzipped.</p>
        </div>
        <${SelectField} label="Kind of rule" value=${form.kind} onValue=${set('kind')} options=${KINDS} />
        <${SelectField} label="Requests" value=${form.as} onValue=${set('as')} options=${VIEWS} />
      </div>
      <${ExpressionField} kind=${form.kind} value=${form.expression} onValue=${set('expression')} rows=${3}
        hint="Leave empty to run the workspace's rules in their order." />
      <div class="row">
        <${Button} kind="main" type="submit" busy=${busy && !isRunning} disabled=${file === undefined || isRunning}>Run<//>
        ${isRunning && html`<${Button} onClick=${cancel}>Cancel<//>`}
      </div>
    </form>
    ${error !== undefined && html`<${Failed} error=${error} />`}
    <div aria-live="polite">
      ${isRunning && html`<p class="row"><progress aria-label="Progress" max=${job.bytes} value=${job.read_bytes}></progress> ${counted(job.requests, 'request')}</p>`}
      ${job?.state === 'failed' && html`<${Notice} kind="bad"><span class="text">${job.fault}</span><//>`}
      ${job?.state === 'cancelled' && html`<${Notice}>The backtest was cancelled.<//>`}
    </div>
    ${job?.state === 'done' && html`<${Result} result=${job.result} />`}
    <${SameWithCurl} text=${curlFile(address, file?.name ?? 'access.log')} />
  `;
}

/** `0.02%` @param {number} share */
const shareOf = (share) => (share > 0 && share < 0.00005 ? '<0.01%' : `${(share * 100).toFixed(2)}%`);

/** @param {{ result: any }} props */
function Result({ result }) {
  const [selected, setSelected] = useState(/** @type {any} */ (undefined));
  const { requests, first, last, unread, actions, histogram } = result;
  const rules = result.rules.map((rule, i) => ({ ...rule, i }));
  const span = first === null ? '' : `, ${dateTime(first)} to ${dateTime(last)}`;
  const decided = Object.entries(actions).map(
    ([action, number]) => `${action === 'none' ? 'no rule' : action} ${count(number)} (${shareOf(number / requests)})`,
  );
  const bars = histogram.bars;
  return html`
    <div class="stack">
      <p>${counted(requests, 'request')}${span}. Decided by: ${decided.join(', ')}.</p>
      <${Broad} rules=${rules} requests=${requests} onShow=${setSelected} />
      ${unread !== null && html`<${Notice} kind="warn"><span class="text">${counted(unread.lines, 'line')} could not be read, the first: ${unread.first}</span><//>`}
      ${
        bars.length > 0 &&
        html`
          <${Card} title="Over time" note=${`Per ${duration(histogram.seconds * 1000)}.`}>
            <${Plot} days=${histogram.seconds >= 86_400} label="Requests over time" times=${bars.map(({ start }) => Date.parse(start) / 1000)} series=${[
              { label: 'requests', color: '--accent', fill: true, values: bars.map((bar) => bar.requests) },
              { label: 'decided by a rule', color: '--bad', values: bars.map((bar) => bar.decided) },
            ]} />
          <//>
        `
      }
      <${Table} label="Rules" columns=${columns(setSelected)} rows=${rules}
        keyOf=${({ i }) => i} />
    </div>
    ${selected !== undefined && html`<${RuleDialog} rule=${selected} onClose=${() => setSelected(undefined)} />`}
  `;
}

/** Share of requests from which on a rule gets a warning. */
const BROAD = 0.01;
const BROAD_NAMED = 5;
const KEEPS_OUT = ['block', 'challenge', 'ratelimit'];

/** @param {{ rules: any[], requests: number, onShow: (rule: any) => void }} props */
function Broad({ rules, requests, onShow }) {
  const broad = rules
    .filter(({ action, decides }) => KEEPS_OUT.includes(action) && decides >= requests * BROAD && decides > 0)
    .toSorted((a, b) => b.decides - a.decides);
  if (broad.length === 0) return null;
  return html`
    <${Notice} kind="warn">
      <p>Check these: ${broad.length === 1 ? 'one rule decides' : `${count(broad.length)} rules decide`} 1% of the requests or more.</p>
      <ul>${broad
        .slice(0, BROAD_NAMED)
        .map(
          (rule) =>
            html`<li key=${rule.i} class="row"><bdi class="text">${rule.name}</bdi> ${rule.action}, ${shareOf(rule.decides / requests)} <${Button} tiny aria-label=${`Requests of ${rule.name}`} onClick=${() => onShow(rule)}>Show requests<//></li>`,
        )}</ul>
      ${broad.length > BROAD_NAMED && html`<p>And ${counted(broad.length - BROAD_NAMED, 'more rule')}, in the table below.</p>`}
    <//>
  `;
}

/** @param {(rule: any) => void} onShow @returns {Column<any>[]} */
const columns = (onShow) => [
  { label: 'Rule', cell: ({ name }) => html`<bdi class="text">${name}</bdi>` },
  { label: 'Action', cell: ({ action }) => action },
  { label: 'Matches', number: true, cell: ({ matches }) => count(matches) },
  { label: 'Share', number: true, cell: ({ share }) => shareOf(share) },
  { label: 'Decides', number: true, cell: ({ decides }) => count(decides) },
  { label: 'First', cell: ({ first }) => (first === null ? '–' : dateTime(first)) },
  { label: 'Last', cell: ({ last }) => (last === null ? '–' : dateTime(last)) },
  { label: 'Never matched because', cell: ({ never, fault }) => html`<bdi class="text">${fault ?? never.join('; ')}</bdi>` },
  {
    label: 'More',
    cell: (rule) => html`<${Button} tiny aria-label=${`Samples of ${rule.name}`} onClick=${() => onShow(rule)}>Samples<//>`,
  },
];

/** @param {{ rule: any, onClose: () => void }} props */
function RuleDialog({ rule, onClose }) {
  const { name, expression, fault, never, taken, contains, agent, lacking, errors, hints, samples } = rule;
  const notes = [
    ...(fault === null ? [] : [`Invalid: ${fault}`]),
    ...never,
    ...taken.map(({ by, requests }) => `${by} decides ${count(requests)} of its requests first`),
    ...(contains.length === 0 ? [] : [`Contains ${contains.join(', ')}`]),
    ...(errors === null ? [] : [`Fails for ${counted(errors.requests, 'request')}: ${errors.first}`]),
    ...lacking.map(({ what, requests }) => `${what} is missing in ${counted(requests, 'request')}: the engine's default applies`),
    ...agent,
    ...hints.map((hint) => `Hint: ${hint}`),
  ];
  return html`
    <${Dialog} title=${name} wide onClose=${onClose} footer=${html`<${Button} onClick=${onClose}>Close<//>`}>
      <p class="mono text">${expression}</p>
      ${notes.length > 0 && html`<ul>${notes.map((note, i) => html`<li key=${i} class="text">${note}</li>`)}</ul>`}
      ${
        samples.length === 0
          ? html`<p class="soft">No matching requests.</p>`
          : html`<${Table} label="Samples" columns=${SAMPLE} rows=${samples.map((sample, i) => ({ ...sample, i }))}
          keyOf=${({ i }) => i} />`
      }
    <//>
  `;
}

/** @type {Column<any>[]} */
const SAMPLE = [
  { label: 'Request', cell: ({ method, target }) => html`<bdi class="mono text">${method} ${target}</bdi>` },
  { label: 'Time', cell: ({ time }) => (time === null ? '–' : dateTime(time)) },
  { label: 'Client', cell: ({ client }) => client ?? '–' },
  { label: 'Status', cell: ({ status }) => status ?? '–' },
  { label: 'Browser', cell: ({ userAgent }) => html`<bdi class="text">${userAgent ?? '–'}</bdi>` },
];
