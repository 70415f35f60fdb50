/** The console: who is signed in, and what is shown to him. */

import { html } from 'htm/preact';
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { readSession } from './session.js';
import { Shell } from './shell.js';
import { cameBack } from './sign-in-with.js';
import { applyTheme } from './theme.js';
import { later, useAhead } from './ui/later.js';
import { Failed } from './ui/states.js';
import { Toasts } from './ui/toast.js';

/** @typedef {import('./session.js').Session} Session */

const signInForms = () => import('./sign-in.js');
const [SignIn, SignInAgain] = [later(signInForms, 'SignIn'), later(signInForms, 'SignInAgain')];

/**
 * What the service has said of the session.
 * @param {{ signedIn: Session | null | undefined, waysIn: import('./session.js').WaysIn | undefined, failure: Error | undefined }} props
 */
function App({ signedIn, waysIn, failure }) {
  const [session, setSession] = useState(signedIn);
  const [isRefused, setRefused] = useState(false);
  useAhead(signInForms);

  useEffect(() => {
    // Any request may find that the session has ended.
    const onEnd = (/** @type {any} */ { detail }) => (detail === 'refused' ? setRefused(true) : setSession(null));
    addEventListener('weir-session-ended', onEnd);
    return () => removeEventListener('weir-session-ended', onEnd);
  }, []);

  if (session === undefined) return html`<main class="page"><${Failed} error=${failure} /></main>`;
  const onSignIn = (/** @type {Session} */ next) => {
    setRefused(false);
    setSession(next);
  };
  // What somebody has typed stays where it is until he has signed in again.
  return html`
    ${session === null ? html`<${SignIn} waysIn=${waysIn} onSignIn=${onSignIn} />` : html`<${Shell} key=${`${session?.workspace_id} ${session?.actor}`} session=${session} />`}
    ${session !== null && isRefused && html`<${SignInAgain} onSignIn=${onSignIn} />`}
    <${Toasts} />
  `;
}

applyTheme();
const root = /** @type {HTMLElement} */ (document.getElementById('app'));
// Until it is known who is signed in, the page shows what it came with (opening/).
void readSession()
  .then(
    ({ session, sign_in: waysIn }) => ({ signedIn: session, waysIn, failure: undefined }),
    (failure) => ({ signedIn: undefined, waysIn: undefined, failure }),
  )
  .then(async (known) => {
    if (known.signedIn) cameBack();
    else await signInForms().catch(() => undefined);
    root.replaceChildren();
    render(html`<${App} ...${known} />`, root);
  });
