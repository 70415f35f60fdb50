/** Where people sign in: a provider of OpenID Connect (SPEC D24). Types only. */
import type { Person } from '../account/person.ts';

/**
 * Why nobody is signed in. `away`: the provider does not answer; `denied`: it does not let him in; `refused`: what it says is not valid, or
 * it does not know what it is asked with.
 */
export interface SignInFailure {
  readonly failed: 'away' | 'denied' | 'refused';
  /** For the log: what was wrong. */
  readonly why: string;
}

/** Who has signed in, as his provider says. */
export interface SignedIn extends Person {
  /** The provider's own session, where it names it. */
  readonly sid: string | null;
  /** When he has signed in there, ms since 1970, where it says so. */
  readonly authenticatedAt: number | null;
  /** What the provider is asked with again, and after how long, ms; null: it need not be. */
  readonly renewal: { readonly token: string; readonly after: number } | null;
}

/** What a sign-in is begun with, and has to come back with. */
export interface Proof {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** Whom a provider has signed out: one of its sessions, or a person, at an instant (ms since 1970). */
export interface SignedOut {
  readonly sid: string | null;
  readonly subject: string | null;
  readonly at: number;
  /** The id of the token that says so, unique for the provider, and until when that is valid (ms). */
  readonly token: string;
  readonly validUntil: number;
}

export interface IdentityProvider {
  /** As settings and addresses name it. */
  readonly id: string;
  /** As people call it. */
  readonly name: string;
  /** How long after signing in there a session ends, ms; null: as others do. */
  readonly maxAge: number | null;
  /** The address to send the browser to, and from where it comes back. */
  begin(proof: Proof, backTo: string): Promise<string | SignInFailure>;
  /** Who has come back to this address. */
  finish(cameBackTo: string, proof: Proof): Promise<SignedIn | SignInFailure>;
  /** Whether he is still signed in there, and what he is now. */
  renew(token: string, subject: string): Promise<SignedIn | SignInFailure>;
  /** Reads what the provider sends when somebody signs out there (back-channel logout). */
  readLogout(token: string): Promise<SignedOut | SignInFailure>;
  /** Where a browser goes that signs out there too, and comes back from; undefined: signing out here is all. */
  signOutAt(backTo: string): Promise<string | undefined>;
  /** Whether it has answered within the last 30 seconds, or does so now. */
  answers(): Promise<boolean>;
}
