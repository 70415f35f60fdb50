import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { allPages, ask, manage } from '../../api.js';
import { useLiveWork, useWork } from '../../data.js';
import { count, counted } from '../../format.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { CheckField, CheckList, SelectField, TextField } from '../../ui/field.js';
import { Failed, Loading, Notice, Shown } from '../../ui/states.js';
import { toast } from '../../ui/toast.js';
import { FEED_SETTINGS, LIST_SETTINGS } from '../../words.js';
import { familiesText, trimmedText } from './feed-state.js';

/** @param {{ feed?: FeedRow, kind?: 'list' | 'composed', tag?: string, onClose: () => void, onDone: (made: any) => unknown }} props */
export function FeedForm({ feed, kind = feed?.kind === 'list' ? 'list' : 'composed', tag, onClose, onDone }) {
  const known = kind === 'list' ? LIST_SETTINGS : FEED_SETTINGS;
  const [name, setName] = useState('');
  const [values, setValues] = useState(() =>
    Object.fromEntries(known.map(({ field }) => [field, String(/** @type {any} */ (feed)?.[field] ?? '')])),
  );
  const [isAll, setAll] = useState(feed?.all_lists ?? false);
  const [members, setMembers] = useState(feed?.lists ?? []);
  const [always, setAlways] = useState(feed?.always ?? []);
  const [once] = useState(() => crypto.randomUUID());
  const { busy, error, run } = useWork();
  const lists = useLiveWork('lists', () => allPages('/lists', 'lists'), { every: 60_000 });

  const settings = Object.fromEntries(known.map((setting) => [setting.field, settingOf(values[setting.field], setting)]));
  const enough = isAll ? always : always.filter((id) => members.includes(id));
  const membersGiven = kind === 'list' ? {} : { ...(isAll ? { all_lists: true } : { lists: members }), always: enough };
  const before = Object.fromEntries(known.map(({ field }) => [field, /** @type {any} */ (feed)?.[field] ?? null]));
  // Only changed settings are sent.
  const changed = Object.fromEntries(Object.entries(settings).filter(([field, value]) => value !== before[field]));

  const submit = () =>
    run(async () => {
      const body = { ...membersGiven, ...changed };
      const path = kind === 'list' ? '/lists' : '/feeds';
      const { body: made } =
        feed === undefined
          ? await ask(manage(path), { method: 'POST', once, body: { name, ...body } })
          : await ask(manage(`${path}/${feed.id}`), { method: 'PATCH', ifMatch: tag, body });
      toast(html`<bdi>${made.name}</bdi> was ${feed === undefined ? 'created' : 'changed'}.`);
      onClose();
      await onDone(made);
    });

  /** @param {(typeof LIST_SETTINGS)[number]} setting */
  const fieldOf = ({ field, label, hint }) => ({
    key: field,
    label,
    hint,
    value: values[field],
    onValue: (value) => setValues({ ...values, [field]: value }),
  });

  const title = feed !== undefined ? `Change ${feed.name}` : kind === 'list' ? 'New list' : 'Compose feed';
  const action = feed !== undefined ? 'Apply' : kind === 'list' ? 'Create list' : 'Create feed';
  const footer = html`<${Button} onClick=${onClose}>Cancel<//><${Button} kind="main" type="submit" busy=${busy}>${action}<//>`;
  return html`
    <${Dialog} wide title=${title} onClose=${onClose} onSubmit=${submit} footer=${footer}>
      ${error !== undefined && html`<${Failed} error=${error} />`}
      ${
        feed === undefined &&
        html`<${TextField} label="Name" value=${name} onValue=${setName} required maxlength="200" autofocus
        hint=${kind === 'list' ? 'Senders and devices use this name.' : 'Devices fetch the feed by this name.'} />`
      }
      ${known
        .filter(({ longest }) => longest !== undefined)
        .map((setting) => html`<${TextField} maxlength=${setting.longest} ...${fieldOf(setting)} />`)}
      ${
        kind !== 'list' &&
        html`
        <${CheckField} label="All lists, including future ones" checked=${isAll} onValue=${setAll} />
        ${
          !isAll &&
          html`<${Shown} live=${lists}>${(/** @type {any[]} */ all) => html`
          <${CheckList} label="Lists" options=${all.map(({ id, name: label }) => ({ value: id, label }))} values=${members} onValues=${setMembers}
          hint=${members.length > 1 ? `In this order: ${namesOf(members, all)}.` : undefined} />
        `}<//>`
        }
        <${Shown} live=${lists}>${(/** @type {any[]} */ all) => html`
          <${CheckList} label="Trusted lists" options=${all.filter(({ id }) => isAll || members.includes(id)).map(({ id, name: label }) => ({ value: id, label }))}
          values=${enough} onValues=${setAlways} hint="Always included, no second source needed." />
        `}<//>
      `
      }
      <div class="form-row">
        ${known
          .filter(({ longest }) => longest === undefined)
          .map((setting) =>
            setting.options === undefined
              ? html`<${TextField} inputmode="numeric" pattern="[0-9]*" ...${fieldOf(setting)} />`
              : html`<${SelectField} options=${setting.options} ...${fieldOf(setting)} />`,
          )}
      </div>
      ${(kind !== 'list' || feed !== undefined) && html`<${Effect} asked=${{ feed: feed?.id, ...membersGiven, ...changed }} />`}
    <//>
  `;
}

/** @param {readonly string[]} ids @param {{ id: string, name: string }[]} all */
const namesOf = (ids, all) => ids.map((id) => all.find((each) => each.id === id)?.name ?? id).join(', ');

/** @param {string} text @param {{ options?: unknown, longest?: number }} setting */
const settingOf = (text, { options, longest }) =>
  text === '' ? null : options === undefined && longest === undefined ? Number(text) : text;

/** @param {{ asked: Record<string, unknown> }} props */
function Effect({ asked }) {
  const [state, setState] = useState(/** @type {any} */ (undefined));
  const text = JSON.stringify(asked);
  useEffect(() => {
    const controller = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const { body } = await ask(manage('/measure'), { method: 'POST', body: asked, signal: controller.signal });
        setState(body);
      } catch (error) {
        if (!controller.signal.aborted) setState({ error });
      }
    }, 400);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [text]);
  if (state === undefined) return html`<${Loading} />`;
  if (state.error !== undefined) return html`<${Notice} kind="warn">The size could not be calculated: ${state.error.message}<//>`;
  const { before, after = null } = state;
  if (after === null) return html`<${Notice}>Size unchanged: ${counted(before?.entries ?? 0, 'entry', 'entries')}.<//>`;
  const over = after.entries > after.entry_limit;
  return html`
    <${Notice} kind=${over ? 'bad' : ''}>
      ${before === null ? `${counted(after.entries, 'entry', 'entries')}` : `${counted(before.entries, 'entry', 'entries')} now, ${count(after.entries)} after the change`}
      ${` (${familiesText(after)}), limit ${count(after.entry_limit)}.`}
      ${over && html`<p>Over the limit: devices would get no update (HTTP 413).</p>`}
      ${after.left_out !== null && html`<p class="text">The feed would leave out ${trimmedText(after.left_out)}.</p>`}
    <//>
  `;
}
