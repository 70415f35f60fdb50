/** The console: who is signed in, and what is shown to him. */

import { html } from 'htm/preact';
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { hasEnded } from './api.js';
import { forgetData } from './data.js';
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

/** How often it is asked again who is signed in, where that could not be told, ms. */
const AGAIN = 5000;

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

  useEffect(() => {
    // In another tab somebody else may have signed in, and what one may do may have changed.
    const onVisible = () => {
      if (document.visibilityState === 'visible' && !hasEnded())
        void readSession().then(({ session: now }) => now && setSession(newer(now)), ignore);
    };
    document.addEventListener('visibilitychange', onVisible);
    return () => document.removeEventListener('visibilitychange', onVisible);
  }, []);

  useEffect(() => {
    if (session !== undefined) return;
    const timer = setInterval(() => void readSession().then(() => location.reload(), ignore), AGAIN);
    return () => clearInterval(timer);
  }, []);

  if (session === undefined)
    return html`<main class="page"><${Failed} error=${failure} /><p class="soft">It is asked again every few seconds.</p></main>`;
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

const ignore = () => undefined;

/** The session as it is now, in place of the one that is shown. @param {Session} now */
const newer = (now) => (/** @type {Session | null | undefined} */ before) => {
  if (JSON.stringify(before) === JSON.stringify(now)) return before;
  if (before?.actor !== now.actor || before.workspace_id !== now.workspace_id) forgetData();
  return now;
};

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
