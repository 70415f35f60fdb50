import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { ApiError, ask } from '../../api.js';
import { count, counted } from '../../format.js';
import { Notice } from '../../ui/states.js';
import { Table } from '../../ui/table.js';

/** Pause in typing before a request, ms. */
const REST = 350;

/**
 * Asks a preview operation when its body changes. A string is sent as it is.
 * @param {string} address
 * @param {unknown} body undefined: nothing to ask about yet. A text is sent as it is.
 * @returns {Preview}
 */
export function usePreview(address, body) {
  const asked = body === undefined ? undefined : `${address} ${typeof body === 'string' ? body : JSON.stringify(body)}`;
  const [state, setState] = useState(/** @type {{ asked?: string, answer?: any, error?: Error }} */ ({}));
  useEffect(() => {
    if (asked === undefined) return;
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const { body: answer } = await ask(address, { method: 'POST', body, signal: stop.signal });
        setState({ asked, answer });
      } catch (error) {
        if (!stop.signal.aborted) setState({ asked, error: /** @type {Error} */ (error) });
      }
    }, REST);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [asked]);
  const isFresh = asked !== undefined && state.asked === asked;
  const { answer, error } = isFresh ? state : { answer: undefined, error: undefined };
  const faults = error instanceof ApiError ? error.faults : [];
  return {
    answer,
    error,
    isWaiting: asked !== undefined && !isFresh,
    faultOf: (field) => faults.find((fault) => fault.field === field)?.message,
  };
}

const KINDS = /** @type {Record<string, string>} */ ({ workspace: 'workspace', list: 'list', composed: 'feed' });

/** @param {{ answer: { feeds?: FeedChange[] | 'unknown', feeds_left_out?: number, feeds_reason?: string } }} props */
export function FeedChanges({ answer }) {
  const { feeds, feeds_left_out: leftOut = 0, feeds_reason: reason } = answer;
  if (feeds === 'unknown') return html`<${Notice} kind="warn">The effect on feeds is unknown: ${reason}.<//>`;
  if (feeds === undefined) return null;
  const changed = feeds.filter(({ entries_before: before, entries_after: after }) => before !== after);
  const widened = /** @type {Required<FeedChange>[]} */ (feeds.filter((feed) => feed.widened));
  const warnings = feeds.flatMap(({ warning }) => warning ?? []);
  const over = changed.filter(({ entries_before: before, entries_after: after, entry_limit: most }) => after > most && before <= most);
  return html`
    ${warnings.map((warning) => html`<${Notice} kind="bad" key=${warning}><span class="text">${warning}</span><//>`)}
    ${
      warnings.length === 0 &&
      over.map(
        (feed) =>
          html`<${Notice} kind="bad" key=${feed.id}>Feed <bdi>${feed.name}</bdi> will exceed its limit: devices get no update (HTTP 413).<//>`,
      )
    }
    ${
      changed.length > 0 &&
      html`<${Table} label="Effect on feeds" columns=${COLUMNS} rows=${changed}
      keyOf=${(/** @type {FeedChange} */ { id, action }) => `${id} ${action}`} />`
    }
    ${changed.length === 0 && html`<p class="soft" role="status">No feed changes: other rules already have this effect.</p>`}
    ${widened.map(({ id, name, widened: { hosts, as_sent: asSent } }) => html`<p class="small" key=${id}>Feed <bdi>${name}</bdi> serves ${counted(hosts, 'address', 'addresses')} as networks${asSent > 0 && `, and ${count(asSent)} as sent: the networks around may not be blocked`}.</p>`)}
    ${leftOut > 0 && html`<p class="small soft">${counted(leftOut, 'more feed')} affected.</p>`}
  `;
}

/** @type {Column<FeedChange>[]} */
const COLUMNS = [
  { label: 'Feed', cell: ({ name, kind }) => html`<span><bdi>${name}</bdi> <span class="soft small">${KINDS[kind]}</span></span>` },
  { label: 'Action', cell: ({ action }) => html`<span class="soft">${action}</span>` },
  { label: 'Entries now', number: true, cell: ({ entries_before: before }) => count(before) },
  { label: 'After', number: true, cell: ({ entries_after: after }) => count(after) },
  {
    label: 'Change',
    number: true,
    cell: ({ entries_before: before, entries_after: after }) => `${after > before ? '+' : '−'}${count(Math.abs(after - before))}`,
  },
];
