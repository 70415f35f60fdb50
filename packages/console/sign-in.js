import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { ApiError } from './api.js';
import { useWork } from './data.js';
import { readSession, resumeSession, signIn } from './session.js';
import { beginWith, isToBegin, whyNot } from './sign-in-with.js';
import { Button } from './ui/button.js';
import { Dialog } from './ui/dialog.js';
import { TextField } from './ui/field.js';
import { Notice } from './ui/states.js';

const BRAND = /** @type {HTMLLinkElement} */ (document.querySelector('link[rel=icon]')).href;
const NAME = 'weir-name';

/** @param {{ waysIn: WaysIn | undefined, onSignIn: (session: Session) => void }} props */
export function SignIn({ waysIn: known, onSignIn }) {
  const [waysIn, setWaysIn] = useState(known);
  useEffect(() => {
    // After a session ended the ways to sign in are not known yet.
    if (waysIn === undefined)
      readSession().then(
        ({ sign_in: ways }) => setWaysIn(ways ?? ONLY_KEYS),
        () => setWaysIn(ONLY_KEYS),
      );
  }, []);
  const only = waysIn !== undefined && isToBegin(waysIn) ? waysIn.providers[0] : undefined;
  useEffect(() => {
    if (only !== undefined) beginWith(only.id);
  }, [only]);
  if (waysIn === undefined || only !== undefined) return html`<${Frame}><p class="soft" role="status">Redirecting…</p><//>`;
  const fault = whyNot(waysIn.providers);
  return html`
    <${Frame}>
      ${fault !== undefined && html`<${Notice} kind="bad">${fault}<//>`}
      ${
        waysIn.providers.length > 0 &&
        html`<div class="card"><h1>Sign in</h1>${waysIn.providers.map(
          ({ id, name }) => html`<${Button} key=${id} kind="main" onClick=${() => beginWith(id)}>Sign in with ${name}<//>`,
        )}</div>`
      }
      ${waysIn.keys && html`<${WithKey} isFirst=${waysIn.providers.length === 0} onSignIn=${onSignIn} />`}
    <//>
  `;
}

/**
 * Over a page whose session ended: typed text survives.
 * @param {{ onSignIn: (session: Session) => void }} props
 */
export function SignInAgain({ onSignIn }) {
  const [waysIn, setWaysIn] = useState(/** @type {WaysIn | undefined} */ (undefined));
  useEffect(() => {
    readSession().then(
      ({ sign_in: ways }) => setWaysIn(ways ?? ONLY_KEYS),
      () => setWaysIn(ONLY_KEYS),
    );
    // Signing in from another tab continues here.
    const look = () =>
      document.visibilityState === 'visible' &&
      void resumeSession().then(
        ({ session }) => session !== null && onSignIn(session),
        () => undefined,
      );
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, []);
  return html`
    <${Dialog} title="You are signed out" onClose=${() => undefined} closes=${false}>
      <${Notice} kind="warn">Your session ended: 12 hours passed, you signed out in another tab, or your key or role is no longer valid. Sign in to continue; your input is still here.<//>
      ${waysIn?.providers.map(({ id, name }) => html`<a key=${id} class="button" href="/console/" target="_blank" rel="noopener">Sign in with ${name} in a new tab, then return here</a>`)}
      ${waysIn?.keys && html`<${WithKey} isFirst=${true} onSignIn=${onSignIn} />`}
    <//>
  `;
}

/** @type {WaysIn} */
const ONLY_KEYS = { keys: true, providers: [] };

/** @param {{ children: any }} props */
const Frame = ({ children }) => html`
  <main class="sign-in">
    <div class="brand"><img src=${BRAND} alt="" width="26" height="26" />weir</div>
    ${children}
  </main>
`;

/** @param {{ isFirst: boolean, onSignIn: (session: Session) => void }} props */
function WithKey({ isFirst, onSignIn }) {
  const [key, setKey] = useState('');
  const [name, setName] = useState(() => localStorage.getItem(NAME) ?? '');
  const { busy, error, run } = useWork();
  const onSubmit = (event) => {
    event.preventDefault();
    void run(async () => {
      const session = await signIn(key, name);
      localStorage.setItem(NAME, name);
      onSignIn(session);
    });
  };
  const faults = error instanceof ApiError ? error.faults : [];
  const faultOf = (field) => faults.find((fault) => fault.field === field)?.message;
  return html`
      <form class="card" onSubmit=${onSubmit}>
        ${isFirst ? html`<h1>Sign in</h1>` : html`<h2>With a key</h2>`}
        ${error !== undefined && faults.length === 0 && html`<${Notice} kind="bad">${textOf(error)}<//>`}
        <${TextField}
          label="API key" type="password" name="key" autocomplete="current-password" autofocus=${isFirst} required maxlength="64"
          hint="A key with the role viewer, operator or admin." value=${key} onValue=${setKey} fault=${faultOf('key')}
        />
        <${TextField}
          label="Your name" name="name" autocomplete="name" required maxlength="100"
          hint="Recorded in the audit log with your changes." value=${name} onValue=${setName} fault=${faultOf('name')}
        />
        <${Button} kind="main" type="submit" busy=${busy}>Sign in<//>
        <p class="small soft">
          Sessions last 12 hours, or until the key expires or is revoked.
        </p>
      </form>
  `;
}

/** @param {Error} error */
const textOf = (error) => (error instanceof ApiError && error.status === 401 ? 'This key is unknown, expired or revoked.' : error.message);
