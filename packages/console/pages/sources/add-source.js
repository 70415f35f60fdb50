import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { ask, manage } from '../../api.js';
import { useLive, useWork } from '../../data.js';
import { durations } from '../../format.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { SelectField } from '../../ui/field.js';
import { Facts } from '../../ui/figures.js';
import { useFields } from '../../ui/form.js';
import { Failed, Loaded, Notice } from '../../ui/states.js';
import { toast } from '../../ui/toast.js';
import { everyText } from './source-state.js';
import { TrialResult } from './trial.js';

/** Value for an address outside the catalogue. */
const OWN = '';
const PURPOSES = [
  { value: 'block', label: 'Block' },
  { value: 'allow', label: 'Never block' },
];

/** @param {{ name?: string, onClose: () => void, onDone: (made: any) => unknown }} props `name`: of the catalogue. */
export function AddSource({ name = OWN, onClose, onDone }) {
  const live = useLive(manage('/catalogue'), { every: 3_600_000 });
  const [chosen, setChosen] = useState(name);
  const own = useFields('createSource', { purpose: 'block', every: 86_400 });
  const [trial, setTrial] = useState(/** @type {any} */ (undefined));
  const [once] = useState(() => crypto.randomUUID());
  const trying = useWork();
  const adding = useWork();
  const body = chosen === OWN ? own.body : { catalogue: chosen };
  const asked = JSON.stringify(body);
  useEffect(() => setTrial(undefined), [asked]);

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
      <${Loaded} live=${live}>${(/** @type {{ sources: any[] }} */ { sources }) => html`
        <${SelectField} label="Source" value=${chosen} options=${[{ value: OWN, label: 'Custom URL' }, ...sources.map(({ name, title }) => ({ value: name, label: title }))]} onValue=${setChosen} />
        ${chosen !== OWN && html`<${About} row=${/** @type {any} */ (sources.find(({ name }) => name === chosen))} />`}
      `}<//>
      ${
        chosen === OWN &&
        html`
          ${own.input('name', { required: true, hint: 'Also the name of its list.' })}
          ${own.input('url', { required: true, type: 'url', hint: undefined })}
          <div class="form-row">
            ${own.input('purpose', { hint: undefined, options: PURPOSES })}
            ${own.input('every', { hint: undefined, options: durations('1h', '6h', '1d') })}
            ${own.input('paths', { label: 'JSON path', hint: 'For example prefixes[].ip_prefix; separate several by commas.' })}
            ${own.input('where', { label: 'Filter', hint: 'For example service=CLOUDFRONT.' })}
            ${own.input('signers', { label: 'Signing keys', hint: 'Of another weir: only its signed feed is accepted.' })}
            ${own.input('column', { label: 'Address column', hint: 'Its name, or its number without a header.' })}
          </div>
        `
      }
      ${trying.busy && html`<p class="loading" role="status">Fetching and comparing…</p>`}
      ${trying.error !== undefined && html`<${Failed} error=${trying.error} />`}
      ${trial !== undefined && html`<${TrialResult} trial=${trial} />`}
    <//>
  `;
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
