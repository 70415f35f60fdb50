import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { ago, dateTime, isForGood, timeLeft } from '../format.js';

/** Current time, ms, updated every second by one shared timer. */
export function useNow() {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const onTick = () => setNow(Date.now());
    listeners.add(onTick);
    if (listeners.size === 1) timer = setInterval(tick, 1000);
    return () => {
      listeners.delete(onTick);
      if (listeners.size === 0) clearInterval(timer);
    };
  }, []);
  return now;
}

/** @type {Set<() => void>} */
const listeners = new Set();
/** @type {ReturnType<typeof setInterval> | undefined} */
let timer;

function tick() {
  if (document.visibilityState === 'visible') for (const listener of listeners) listener();
}

/** @param {{ at: string | number | null | undefined, never?: string }} props */
export function Ago({ at, never = 'never' }) {
  const now = useNow();
  if (at === null || at === undefined) return html`<span class="soft">${never}</span>`;
  return html`<time class="nowrap" datetime=${new Date(at).toISOString()} title=${dateTime(at)}>${ago(new Date(at).getTime(), now)}</time>`;
}

/** @param {{ until: string | number | null | undefined, forever?: string }} props */
export function Countdown({ until, forever = 'no expiry' }) {
  const now = useNow();
  if (until === null || until === undefined) return html`<span class="soft">${forever}</span>`;
  const left = new Date(until).getTime() - now;
  if (isForGood(left)) return html`<span class="soft" title=${dateTime(until)}>${forever}</span>`;
  return html`<time class="nowrap" datetime=${new Date(until).toISOString()} title=${dateTime(until)}>${left <= 0 ? 'expired' : timeLeft(left)}</time>`;
}
