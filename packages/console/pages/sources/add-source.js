import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { ask, manage } from '../../api.js';
import { useLive, useWork } from '../../data.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { SelectField, TextField } from '../../ui/field.js';
import { Facts } from '../../ui/figures.js';
import { Failed, Notice, Shown } from '../../ui/states.js';
import { toast } from '../../ui/toast.js';
import { everyText } from './source-state.js';
import { TrialResult } from './trial.js';

/** Value for an address outside the catalogue. */
const OWN = '';
const PURPOSES = [
  { value: 'block', label: 'Block' },
  { value: 'allow', label: 'Never block' },
];
const INTERVALS = [3600, 6 * 3600, 86_400].map((seconds) => ({ value: String(seconds), label: everyText(seconds) }));

/** @param {{ onClose: () => void, onDone: (made: any) => unknown }} props */
export function AddSource({ onClose, onDone }) {
  const live = useLive(manage('/catalogue'), { every: 3_600_000 });
  const [chosen, setChosen] = useState(OWN);
  const [own, setOwn] = useState({ name: '', url: '', purpose: 'block', every: '86400', paths: '', where: '', column: '' });
  const [trial, setTrial] = useState(/** @type {any} */ (undefined));
  const [once] = useState(() => crypto.randomUUID());
  const trying = useWork();
  const adding = useWork();
  const body = chosen === OWN ? bodyOf(own) : { catalogue: chosen };
  const set = (/** @type {Partial<typeof own>} */ change) => {
    setOwn({ ...own, ...change });
    setTrial(undefined);
  };
  const field = (/** @type {keyof typeof own} */ name) => ({
    value: own[name],
    onValue: (value) => set({ [name]: value }),
  });

  const tryIt = () =>
    trying.run(async () => {
      setTrial(undefined);
      const { name: _name, ...asked } = body;
      setTrial((await ask(manage('/sources/try'), { method: 'POST', body: asked })).body);
    });
  const add = () =>
    adding.run(async () => {
      const { body: made } = await ask(manage('/sources'), { method: 'POST', once, body });
      toast(html`<bdi>${made.name}</bdi> was added. The first fetch is running.`);
      onClose();
      await onDone(made);
    });
  const isTried = trial !== undefined || trying.error !== undefined;
  const footer = html`
    <${Button} onClick=${onClose}>Cancel<//>
    <${Button} kind=${isTried ? '' : 'main'} type=${isTried ? 'button' : 'submit'} onClick=${isTried ? tryIt : undefined} busy=${trying.busy}>Test<//>
    <${Button} kind=${isTried ? 'main' : ''} type=${isTried ? 'submit' : 'button'} disabled=${!isTried} busy=${adding.busy}>Add<//>
  `;
  return html`
    <${Dialog} wide title="Add source" onClose=${onClose} onSubmit=${isTried ? add : tryIt} footer=${footer}>
      ${adding.error !== undefined && html`<${Failed} error=${adding.error} />`}
      <${Shown} live=${live}>${(/** @type {{ sources: any[] }} */ { sources }) => html`
        <${SelectField} label="Source" value=${chosen} options=${[{ value: OWN, label: 'Custom URL' }, ...sources.map(({ name, title }) => ({ value: name, label: title }))]}
          onValue=${(value) => {
            setChosen(value);
            setTrial(undefined);
          }} />
        ${chosen !== OWN && html`<${About} row=${/** @type {any} */ (sources.find(({ name }) => name === chosen))} />`}
      `}<//>
      ${
        chosen === OWN &&
        html`
          <${TextField} label="Name" required maxlength="200" hint="Also the name of its list." ...${field('name')} />
          <${TextField} label="URL" required type="url" maxlength="2048" ...${field('url')} />
          <div class="form-row">
            <${SelectField} label="Purpose" options=${PURPOSES} ...${field('purpose')} />
            <${SelectField} label="Interval" options=${INTERVALS} ...${field('every')} />
            <${TextField} label="JSON path" hint="For example prefixes[].ip_prefix; separate several by commas." ...${field('paths')} />
            <${TextField} label="Filter" hint="For example service=CLOUDFRONT." ...${field('where')} />
            <${TextField} label="Address column" hint="Its name, or its number without a header." maxlength="200" ...${field('column')} />
          </div>
        `
      }
      ${trying.busy && html`<p class="loading" role="status">Fetching and comparing…</p>`}
      ${trying.error !== undefined && html`<${Failed} error=${trying.error} />`}
      ${trial !== undefined && html`<${TrialResult} trial=${trial} />`}
    <//>
  `;
}

/**
 * @param {{ name: string, url: string, purpose: string, every: string, paths: string, where: string, column: string }} own
 * @returns {Record<string, unknown>}
 */
function bodyOf({ name, url, purpose, every, paths, where, column }) {
  const given = paths.split(',').flatMap((path) => (path.trim() === '' ? [] : [path.trim()]));
  return {
    name,
    url,
    purpose,
    every: Number(every),
    ...(given.length > 0 && { paths: given }),
    ...(where.trim() !== '' && { where: where.trim() }),
    ...(column.trim() !== '' && { column: column.trim() }),
  };
}

/** @param {{ row: any }} props */
const About = ({ row: { url, purpose, every, least, terms, note } }) => html`
  ${note !== null && html`<${Notice} kind="warn">${note}<//>`}
  <${Facts} facts=${[
    ['URL', url],
    ['Purpose', purpose === 'allow' ? 'never block' : 'block'],
    ['Interval', `${everyText(every)}, at least ${everyText(least)}`],
    ['Terms', terms],
  ]} />
`;
