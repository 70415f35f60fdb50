import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { ApiError, ask, manage } from '../../api.js';
import { curlOf } from '../../curl.js';
import { useLive } from '../../data.js';
import { counted } from '../../format.js';
import { FormDialog } from '../../ui/dialog.js';
import { TextField } from '../../ui/field.js';
import { Notice } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import { toast } from '../../ui/toast.js';
import { Verdict, whyText } from '../lookup/words.js';
import { WhatChanges } from './what-changes.js';

const REST = 350;

/** @param {{ value?: string, onClose: () => void, onDone: () => void }} props */
export function UnblockForm({ value: given = '', onClose, onDone }) {
  const [value, setValue] = useState(given);
  const [target, setTarget] = useState(given.trim());
  useEffect(() => {
    const timer = setTimeout(() => setTarget(value.trim()), REST);
    return () => clearTimeout(timer);
  }, [value]);
  const { value: explained, error: failure } = useLive(target === '' ? null : manage('/lookup', { target }));

  const isWaiting = value.trim() !== '' && (target !== value.trim() || (explained === undefined && failure === undefined));
  const fault = failure instanceof ApiError ? failure.faults.find(({ field }) => field === 'target')?.message : undefined;
  const answer = isWaiting || failure !== undefined || target === '' ? undefined : explained;
  const lists = answer === undefined ? [] : listsOf(answer.feeds);
  const bodies = lists.map(({ id }) => ({ value: target, action: 'unblock', list: id }));
  const work = async () => {
    let landed = true;
    for (const body of bodies) {
      const { body: done } = await ask(manage('/rules'), { method: 'POST', once: crypto.randomUUID(), body });
      landed &&= done.landed;
    }
    const where = `in ${counted(bodies.length, 'list')}`;
    toast(html`<bdi>${target}</bdi> ${landed ? `unblocked ${where}.` : `will be unblocked ${where} in a moment.`}`);
    onDone();
  };
  const curl = (bodies.length === 0 ? [{ value: target, action: 'unblock' }] : bodies)
    .map((body) => curlOf('POST', manage('/rules'), body))
    .join('\n');
  return html`
    <${FormDialog} title="Unblock" wide action="Unblock" work=${work} curl=${curl} onClose=${onClose} disabled=${bodies.length === 0}>
      <${TextField}
        label="Address, network, ASN or country" hint="Removes rules for exactly this target from all lists." value=${value} onValue=${setValue}
        required autofocus maxlength="64" autocomplete="off" fault=${isWaiting ? undefined : fault}
      />
      <${WhatChanges} preview=${{ answer, error: isWaiting ? undefined : failure, isWaiting, faultOf: () => undefined }}
        isGiven=${value.trim() !== ''} isFault=${fault !== undefined}>
        ${() => html`<${Outlook} target=${target} feeds=${answer.feeds} lists=${lists} />`}
      <//>
    <//>
  `;
}

/** @param {ExplainedFeed[]} feeds */
const listsOf = (feeds) => feeds.filter(({ kind, unblock }) => kind === 'list' && unblock.removes.length > 0);

/** @param {{ target: string, feeds: ExplainedFeed[], lists: ExplainedFeed[] }} props */
function Outlook({ target, feeds, lists }) {
  const concerned = feeds.filter(({ rules, verdict }) => rules.length > 0 || verdict !== 'out');
  if (lists.length === 0) {
    const isInSource = feeds.some(({ rules }) =>
      rules.some(({ relation, action, source }) => relation === 'exact' && action === 'block' && source),
    );
    const because = feeds.find(({ kind, verdict }) => kind === 'workspace' && verdict !== 'out');
    return html`
      <${Notice} kind="warn">
        <strong>Nothing to unblock.</strong> ${isInSource ? html`Only sources list <bdi>${target}</bdi> itself, and an unblock does not change sources: add a never-block rule to another list` : html`No rule blocks <bdi>${target}</bdi> itself`}.${' '}
        ${because === undefined ? 'No feed blocks it.' : html`It stays blocked: ${whyText(because)}.`}
      <//>
    `;
  }
  return html`
    <p>Removes ${counted(lists.flatMap(({ unblock }) => unblock.removes).length, 'rule')} from ${lists.map(({ name }, i) => html`${i > 0 ? ', ' : ''}<bdi>${name}</bdi>`)}.</p>
    <${Table} label="Effect on feeds" columns=${COLUMNS} rows=${concerned}
      keyOf=${(/** @type {ExplainedFeed} */ { id }) => id ?? ''} />
  `;
}

/** @type {Column<ExplainedFeed>[]} */
const COLUMNS = [
  {
    label: 'Feed',
    cell: ({ name, kind }) => html`<span><bdi>${name}</bdi> <span class="soft small">${kind === 'composed' ? 'feed' : kind}</span></span>`,
  },
  { label: 'Now', cell: ({ verdict }) => html`<${Verdict} verdict=${verdict} />` },
  { label: 'After', cell: ({ unblock }) => html`<${Verdict} verdict=${unblock.verdict} />` },
  {
    label: 'Because',
    cell: (feed) => (feed.unblock.verdict === 'out' ? '' : html`<span class="small">${whyText(feed)}</span>`),
  },
];
