import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { allPages, manage } from '../../api.js';
import { useLiveWork } from '../../data.js';
import { count, counted } from '../../format.js';
import { FormDialog } from '../../ui/dialog.js';
import { CheckField, CheckList } from '../../ui/field.js';
import { useFields } from '../../ui/form.js';
import { Loaded, Loading, Notice } from '../../ui/states.js';
import { usePreview } from '../rules/preview.js';
import { familiesText, trimmedText } from './feed-state.js';

/** @param {{ feed?: FeedRow, kind?: 'list' | 'composed', tag?: string, onClose: () => void, onDone: (made: any) => unknown }} props */
export function FeedForm({ feed, kind = feed?.kind === 'list' ? 'list' : 'composed', tag, onClose, onDone }) {
  const { fields, values, changes, input } = useFields(kind === 'list' ? 'createList' : 'createFeed', feed);
  const [isAll, setAll] = useState(feed?.all_lists ?? false);
  const [members, setMembers] = useState(feed?.lists ?? []);
  const [always, setAlways] = useState(feed?.always ?? []);
  const lists = useLiveWork('lists', () => allPages('/lists', 'lists'), { every: 60_000 });

  const settings = fields.filter(({ field, list }) => field !== 'name' && list === undefined);
  const long = settings.filter(({ maxlength }) => maxlength !== undefined);
  const enough = isAll ? always : always.filter((id) => members.includes(id));
  const membersGiven = kind === 'list' ? {} : { ...(isAll ? { all_lists: true } : { lists: members }), always: enough };
  const { name: _name, lists: _lists, always: _always, ...changed } = changes;
  const path = kind === 'list' ? '/lists' : '/feeds';
  const body = { ...membersGiven, ...changed };
  const request =
    feed === undefined
      ? { address: manage(path), body: { name: values.name, ...body } }
      : { address: manage(`${path}/${feed.id}`), method: 'PATCH', ifMatch: tag, body };
  const field = (schema) => input(schema.field, { empty: 'Default' });
  const title = feed !== undefined ? `Change ${feed.name}` : kind === 'list' ? 'New list' : 'Compose feed';
  const action = feed !== undefined ? 'Apply' : kind === 'list' ? 'Create list' : 'Create feed';
  return html`
    <${FormDialog} wide title=${title} action=${action} request=${request} onDone=${onDone} onClose=${onClose}
      done=${({ name }) => html`<bdi>${name}</bdi> was ${feed === undefined ? 'created' : 'changed'}.`}>
      ${feed === undefined && input('name', { required: true, autofocus: true, hint: kind === 'list' ? 'Senders and devices use this name.' : 'Devices fetch the feed by this name.' })}
      ${long.map(field)}
      ${
        kind !== 'list' &&
        html`
        <${CheckField} label="All lists, including future ones" checked=${isAll} onValue=${setAll} />
        <${Loaded} live=${lists}>${(/** @type {Named[]} */ all) => html`
          ${
            !isAll &&
            html`<${CheckList} label="Lists" options=${optionsOf(all)} values=${members} onValues=${setMembers}
            hint=${members.length > 1 ? `In this order: ${namesOf(members, all)}.` : undefined} />`
          }
          <${CheckList} label="Trusted lists" options=${optionsOf(all.filter(({ id }) => isAll || members.includes(id)))}
          values=${enough} onValues=${setAlways} hint="Always included, no second source needed." />
        `}<//>
      `
      }
      <div class="form-row">${settings.filter((each) => !long.includes(each)).map(field)}</div>
      ${(kind !== 'list' || feed !== undefined) && html`<${Effect} asked=${{ feed: feed?.id, ...body }} />`}
    <//>
  `;
}

/** @param {Named[]} named */
const optionsOf = (named) => named.map(({ id, name }) => ({ value: id, label: name }));

/** @param {readonly string[]} ids @param {{ id: string, name: string }[]} all */
const namesOf = (ids, all) => ids.map((id) => all.find((each) => each.id === id)?.name ?? id).join(', ');

/** @param {{ asked: Record<string, unknown> }} props */
function Effect({ asked }) {
  const { answer, error } = usePreview(manage('/measure'), asked);
  if (error !== undefined) return html`<${Notice} kind="warn">The size could not be calculated: ${error.message}<//>`;
  if (answer === undefined) return html`<${Loading} />`;
  const { before, after = null } = answer;
  if (after === null) return html`<${Notice}>Size unchanged: ${counted(before?.entries ?? 0, 'entry', 'entries')}.<//>`;
  const over = after.entries > after.entry_limit;
  return html`
    <${Notice} kind=${over ? 'bad' : ''}>
      ${before === null ? counted(after.entries, 'entry', 'entries') : `${counted(before.entries, 'entry', 'entries')} now, ${count(after.entries)} after the change`}
      ${` (${familiesText(after)}), limit ${count(after.entry_limit)}.`}
      ${over && html`<p>Over the limit: devices would get no update (HTTP 413).</p>`}
      ${after.left_out !== null && html`<p class="text">The feed would leave out ${trimmedText(after.left_out)}.</p>`}
    <//>
  `;
}
