import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { Loaded } from '../../ui/states.js';

/** @param {{ live: Live<any>, children: (value: any) => any }} props */
export function Counted({ live, children }) {
  const isCounting = live.value === undefined && live.error === undefined;
  return isCounting ? html`<${Counting} />` : html`<${Loaded} live=${live}>${children}<//>`;
}

function Counting() {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds((before) => before + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  return html`
    <div class="counting">
      <p role="status">Comparing lists…</p>
      <progress aria-label="Comparing the lists"></progress>
      <p class="soft small" aria-hidden="true">${seconds} s${seconds > 5 && ' – millions of entries take about a minute'}</p>
    </div>
  `;
}
