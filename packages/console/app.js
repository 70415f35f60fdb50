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

const signInForms = () => import('./sign-in.js');
const [SignIn, SignInAgain] = [later(signInForms, 'SignIn'), later(signInForms, 'SignInAgain')];

/** Delay between two attempts to read the session, ms. */
const AGAIN = 5000;

/**
 * @param {{ signedIn: Session | null | undefined, waysIn: WaysIn | undefined, failure: Error | undefined }} props
 */
function App({ signedIn, waysIn, failure }) {
  const [session, setSession] = useState(signedIn);
  const [isRefused, setRefused] = useState(false);
  useAhead(signInForms);

  useEffect(() => {
    // Any request may discover that the session ended.
    const onEnd = (/** @type {any} */ { detail }) => (detail === 'refused' ? setRefused(true) : setSession(null));
    addEventListener('weir-session-ended', onEnd);
    return () => removeEventListener('weir-session-ended', onEnd);
  }, []);

  useEffect(() => {
    // Another tab may have changed the person or the permissions.
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
    return html`<main class="page"><${Failed} error=${failure} /><p class="soft">Retrying every few seconds…</p></main>`;
  const onSignIn = (/** @type {Session} */ next) => {
    setRefused(false);
    setSession(next);
  };
  // The page stays mounted below the sign-in form: typed text survives.
  return html`
    ${session === null ? html`<${SignIn} waysIn=${waysIn} onSignIn=${onSignIn} />` : html`<${Shell} key=${`${session?.workspace_id} ${session?.actor}`} session=${session} />`}
    ${session !== null && isRefused && html`<${SignInAgain} onSignIn=${onSignIn} />`}
    <${Toasts} />
  `;
}

const ignore = () => undefined;

/** @param {Session} now */
const newer = (now) => (/** @type {Session | null | undefined} */ before) => {
  if (JSON.stringify(before) === JSON.stringify(now)) return before;
  if (before?.actor !== now.actor || before.workspace_id !== now.workspace_id) forgetData();
  return now;
};

applyTheme();
const root = /** @type {HTMLElement} */ (document.getElementById('app'));
// Until the session is known the page keeps its opening HTML.
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
