/** The form to sign in. */

import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { ApiError } from './api.js';
import { useWork } from './data.js';
import { signIn } from './session.js';
import { Button } from './ui/button.js';
import { TextField } from './ui/field.js';
import { Notice } from './ui/states.js';

const BRAND = new URL('weir.svg', import.meta.url).pathname;
/** Where the browser keeps the name for the next time. */
const NAME = 'weir-name';

/** @param {{ onSignIn: (session: import('./session.js').Session) => void }} props */
export function SignIn({ onSignIn }) {
  const [key, setKey] = useState('');
  const [name, setName] = useState(() => localStorage.getItem(NAME) ?? '');
  const { busy, error, run } = useWork();
  const onSubmit = (/** @type {Event} */ event) => {
    event.preventDefault();
    void run(async () => {
      const session = await signIn(key, name);
      localStorage.setItem(NAME, name);
      onSignIn(session);
    });
  };
  const faults = error instanceof ApiError ? error.faults : [];
  const faultOf = (/** @type {string} */ field) => faults.find((fault) => fault.field === field)?.message;
  return html`
    <main class="sign-in">
      <div class="brand"><img src=${BRAND} alt="" width="26" height="26" />weir</div>
      <form class="card" onSubmit=${onSubmit}>
        <h1>Sign in</h1>
        ${error !== undefined && faults.length === 0 && html`<${Notice} kind="bad">${textOf(error)}<//>`}
        <${TextField}
          label="API key" type="password" name="key" autocomplete="current-password" autofocus required maxlength="64"
          hint="A key with the permission manage or rules:read." value=${key} onValue=${setKey} fault=${faultOf('key')}
        />
        <${TextField}
          label="Your name" name="name" autocomplete="name" required maxlength="100"
          hint="Stands in the audit log beside what you change." value=${name} onValue=${setName} fault=${faultOf('name')}
        />
        <${Button} kind="main" type="submit" busy=${busy}>Sign in<//>
        <p class="small soft">
          You stay signed in for 12 hours, or until the key is revoked. <code>weir key create --permission manage</code> makes a key.
        </p>
      </form>
    </main>
  `;
}

/** @param {Error} error */
const textOf = (error) =>
  error instanceof ApiError && error.status === 401 ? 'This key is not known, or it was revoked or has expired.' : error.message;
