import { useEffect, useState } from 'preact/hooks';
import { ask, manage } from './api.js';
import { useLiveWork } from './data.js';

/** Current alerts, snoozed ones included. @param {number} [every] ms between two reads. */
export const useAttention = (every) => useLiveWork('attention', readAttention, every === undefined ? undefined : { every });

/** @returns {Promise<AlertItem[]>} */
async function readAttention() {
  const { body } = await ask(manage('/status'));
  const items = body.items.map((item) =>
    item.key.startsWith(APPROVALS) ? { ...item, requests: body.waiting_approvals[0].requests } : item,
  );
  dispatchEvent(new CustomEvent('weir-attention', { detail: items }));
  return items;
}

const APPROVALS = 'approvals/';

/** Numbers next to pages, by path, from the last read of any component. @returns {Record<string, { count: number, text: string }>} */
export function useSideCounts() {
  const { value } = useAttention(30_000);
  const [items, setItems] = useState(/** @type {AlertItem[]} */ ([]));
  useEffect(() => {
    const onItems = (/** @type {any} */ { detail }) => setItems(detail);
    addEventListener('weir-attention', onItems);
    return () => removeEventListener('weir-attention', onItems);
  }, []);
  useEffect(() => value && setItems(value), [value]);
  return {
    '/': { count: items.filter(({ snooze }) => snooze === null).length, text: 'alerts' },
    '/approvals': { count: items.find(({ key }) => key.startsWith(APPROVALS))?.requests ?? 0, text: 'waiting for approval' },
  };
}
