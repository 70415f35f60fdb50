import { useEffect, useState } from 'preact/hooks';
import { ask, manage } from './api.js';
import { useLiveWork } from './data.js';

/** Current alerts, snoozed ones included. @param {number} [every] ms between two reads. */
export const useAttention = (every) => useLiveWork('attention', readAttention, every === undefined ? undefined : { every });

/** @returns {Promise<AlertItem[]>} */
async function readAttention() {
  const { body } = await ask(manage('/status'));
  const items = /** @type {AlertItem[]} */ (body.items);
  dispatchEvent(new CustomEvent('weir-attention', { detail: items.filter(({ snooze }) => snooze === null).length }));
  return items;
}

/** Number of alerts that are not snoozed, from the last read of any component; 0 before the first. */
export function useAttentionCount() {
  const { value } = useAttention(30_000);
  const [count, setCount] = useState(0);
  useEffect(() => {
    const onCount = (/** @type {any} */ { detail }) => setCount(detail);
    addEventListener('weir-attention', onCount);
    return () => removeEventListener('weir-attention', onCount);
  }, []);
  useEffect(() => value && setCount(value.filter((/** @type {AlertItem} */ { snooze }) => snooze === null).length), [value]);
  return count;
}
