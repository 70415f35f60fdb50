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

/** @param {{ signedIn: Session | null | undefined, failure: Error | undefined }} props What the service has said of the session. */
function App({ signedIn, failure }) {
  const [session, setSession] = useState(signedIn);

  useEffect(() => {
    // Any request may find that the session has ended.
    const onEnd = () => setSession(null);
    addEventListener('weir-session-ended', onEnd);
    return () => removeEventListener('weir-session-ended', onEnd);
  }, []);

  if (session === undefined) return html`<main class="page"><${Failed} error=${failure} /></main>`;
  return html`
    ${session === null ? html`<${SignIn} onSignIn=${setSession} />` : html`<${Shell} session=${session} />`}
    <${Toasts} />
  `;
}

applyTheme();
// Until it is known who is signed in, the page shows what it came with (opening/).
const known = await readSession().then(
  (signedIn) => ({ signedIn, failure: undefined }),
  (failure) => ({ signedIn: undefined, failure }),
);
const root = /** @type {HTMLElement} */ (document.getElementById('app'));
root.replaceChildren();
render(html`<${App} ...${known} />`, root);
