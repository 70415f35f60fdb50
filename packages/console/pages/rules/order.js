import { html } from 'htm/preact';
import { useRef, useState } from 'preact/hooks';
import { allPages, manage } from '../../api.js';
import { curlOf } from '../../curl.js';
import { useLiveWork } from '../../data.js';
import { counted } from '../../format.js';
import { helpAt } from '../../router.js';
import { IconButton } from '../../ui/button.js';
import { Dialog, FormDialog } from '../../ui/dialog.js';
import { Failed, Notice } from '../../ui/states.js';
import { Action } from './action.js';
import { newOrders } from './new-orders.js';
import { usePreview } from './preview.js';
import { nameOf } from './tabs.js';

const MOST = 500;

/** @param {{ kind: string, onClose: () => void, onDone: () => void }} props */
export function OrderRules({ kind, onClose, onDone }) {
  const { value, error } = useLiveWork(`rules in order ${kind}`, () => allPages('/rules', 'rules', { kind }, MOST + 1), {
    every: 3_600_000,
  });
  const rules = /** @type {Rule[] | undefined} */ (value);
  if (rules !== undefined && rules.length <= MOST) return html`<${Order} rules=${rules} onClose=${onClose} onDone=${onDone} />`;
  return html`
    <${Dialog} title="Change order" onClose=${onClose}>
      ${error !== undefined && html`<${Failed} error=${error} />`}
      ${rules !== undefined ? html`<${TooMany} />` : html`<p class="soft">Loading…</p>`}
    <//>
  `;
}

const TooMany = () => html`
  <${Notice}>Only lists of up to ${MOST} rules can be sorted here. Set the order by number instead:<//>
  <ul>
    <li>One rule: open it, press <em>Change</em> and set its <em>Order</em>. The lowest runs first.</li>
    <li>Many rules: <a href=${helpAt('docs/signals.md')} target="_blank" rel="noopener">send them again</a> with the same references and other numbers.</li>
  </ul>
`;

/** As a signal with another order, otherwise unchanged. @param {Rule} rule @param {number} order */
const signalOf = ({ kind, rule_ref, type, action, expression, name, short_description, config, reason, labels, expires_at }, order) => ({
  kind,
  op: 'upsert',
  rule_ref,
  ...(reason !== null && { reason }),
  ...(labels !== null && { labels }),
  ...(expires_at !== null && { expires_at }),
  rule: { type, action, expression, order, ...given({ name, short_description, config }) },
});
/** @param {Record<string, unknown>} fields */
const given = (fields) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));

/** @param {{ rules: Rule[], onClose: () => void, onDone: () => void }} props */
function Order({ rules, onClose, onDone }) {
  const [list, setList] = useState(rules);
  const [announced, setAnnounced] = useState('');
  const dragged = useRef(/** @type {number | undefined} */ (undefined));
  const changes = newOrders(list);
  const signals = [...changes].map(([place, order]) => signalOf(list[place], order));
  const body = signals.length === 0 ? undefined : JSON.stringify(signals);
  const preview = usePreview(manage('/imports', { preview: 1 }), body);
  const failed = preview.answer?.errors ?? [];

  const move = (from, to) => {
    if (to < 0 || to >= list.length || from === to) return;
    const next = list.toSpliced(from, 1).toSpliced(to, 0, list[from]);
    setList(next);
    setAnnounced(`${nameOf(list[from])} moved to position ${to + 1} of ${list.length}.`);
  };
  return html`
    <${FormDialog} title="Change order" wide action="Apply" request=${{ address: manage('/imports'), body }} curl=${curlOf('POST', manage('/imports'), signals)}
      done=${() => `Order of ${counted(signals.length, 'rule')} changed.`} onDone=${onDone} onClose=${onClose} disabled=${preview.answer === undefined || failed.length > 0}>
      <p class="soft small">The first matching rule decides. Drag a rule, use its arrows, or press <kbd>Alt</kbd> with an arrow key.</p>
      <ol class="ordered">
        ${list.map(
          (rule, i) => html`
            <li key=${rule.id} draggable=${true} data-place=${i}
              onDragStart=${(event) => {
                dragged.current = i;
                if (event.dataTransfer !== null) event.dataTransfer.effectAllowed = 'move';
              }}
              onDragOver=${(event) => event.preventDefault()}
              onDrop=${(event) => {
                event.preventDefault();
                if (dragged.current !== undefined) move(dragged.current, i);
                dragged.current = undefined;
              }}
              onKeyDown=${(event) => {
                const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
                if (!event.altKey || step === undefined) return;
                event.preventDefault();
                move(i, i + step);
              }}>
              <span class="number soft">${i + 1}</span>
              <span class="one-line"><bdi class="text">${nameOf(rule)}</bdi> <${Action} action=${rule.action} />${rule.type === 'generated' && html` <span class="small soft">AI</span>`}</span>
              <span class="small nowrap">${orderText(rule.order)}${changes.has(i) && html` → <strong>${changes.get(i)}</strong>`}</span>
              <span class="row">
                <${IconButton} icon="up" label=${`Move ${nameOf(rule)} up`} disabled=${i === 0} onClick=${() => move(i, i - 1)} />
                <${IconButton} icon="down" label=${`Move ${nameOf(rule)} down`} disabled=${i === list.length - 1} onClick=${() => move(i, i + 1)} />
              </span>
            </li>
          `,
        )}
      </ol>
      <p class="hidden-visually" role="status">${announced}</p>
      <section aria-label="Preview" class="stack">
        <h3>Preview</h3>
        <p>${signals.length === 0 ? 'Nothing yet.' : `The order of ${counted(signals.length, 'rule')}, as one batch that you can undo.`}</p>
        ${preview.error !== undefined && html`<${Failed} error=${preview.error} />`}
        ${failed.map(({ place, message }) => html`<${Notice} kind="bad" key=${place}><span class="text">${place}: ${message}</span><//>`)}
        ${(preview.answer?.warnings ?? []).map((warning) => html`<${Notice} kind="warn" key=${warning}><span class="text">${warning}</span><//>`)}
      </section>
    <//>
  `;
}

/** @param {number | null | undefined} order */
const orderText = (order) => (order === null || order === undefined ? 'no order' : `order ${order}`);
