/** What needs attention, as the service tells it. */
import { useEffect, useState } from 'preact/hooks';
import { ask, manage } from './api.js';
import { useLiveWork } from './data.js';

/** @typedef {{ id: string, reason: string, since: string, until: string, actor: string | null, key_id: string | null, key_name: string | null }} Snooze */
/** @typedef {{ key: string, state: string, text: string, urgent: boolean, snooze: Snooze | null }} Item */

/** What needs attention now; those that are put off are in it. @param {number} [every] ms between two reads. */
export const useAttention = (every) => useLiveWork('attention', readAttention, every === undefined ? undefined : { every });

/** @returns {Promise<Item[]>} */
async function readAttention() {
  const { body } = await ask(manage('/status'));
  const items = /** @type {Item[]} */ (body.items);
  dispatchEvent(new CustomEvent('weir-attention', { detail: items.filter(({ snooze }) => snooze === null).length }));
  return items;
}

/** How many things need attention and are not put off, by whoever has read it last; 0 while that is not known. */
export function useAttentionCount() {
  const { value } = useAttention(30_000);
  const [count, setCount] = useState(0);
  useEffect(() => {
    const onCount = (/** @type {any} */ { detail }) => setCount(detail);
    addEventListener('weir-attention', onCount);
    return () => removeEventListener('weir-attention', onCount);
  }, []);
  useEffect(() => value && setCount(value.filter((/** @type {Item} */ { snooze }) => snooze === null).length), [value]);
  return count;
}
