/** The console: who is signed in, and what is shown to him. */

import { html } from 'htm/preact';
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { readSession } from './session.js';
import { Shell } from './shell.js';
import { SignIn } from './sign-in.js';
import { applyTheme } from './theme.js';
import { Failed } from './ui/states.js';
import { Toasts } from './ui/toast.js';

/** @typedef {import('./session.js').Session} Session */

function App() {
  const [session, setSession] = useState(/** @type {Session | null | undefined} */ (undefined));
  const [error, setError] = useState(/** @type {Error | undefined} */ (undefined));

  useEffect(() => {
    readSession().then(setSession, setError);
    // Any request may find that the session has ended.
    const onEnd = () => setSession(null);
    addEventListener('weir-session-ended', onEnd);
    return () => removeEventListener('weir-session-ended', onEnd);
  }, []);

  if (error !== undefined) return html`<main class="page"><${Failed} error=${error} /></main>`;
  if (session === undefined) return null;
  return html`
    ${session === null ? html`<${SignIn} onSignIn=${setSession} />` : html`<${Shell} session=${session} />`}
    <${Toasts} />
  `;
}

applyTheme();
render(html`<${App} />`, /** @type {HTMLElement} */ (document.getElementById('app')));
