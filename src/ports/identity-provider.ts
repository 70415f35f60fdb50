/** OpenID Connect providers (SPEC D24). */
import type { Person } from '../account/person.ts';

/**
 * `away`: the provider does not respond. `denied`: it rejects the person. `refused`: its response is invalid, or it rejects the request.
 */
export interface SignInFailure {
  readonly failed: 'away' | 'denied' | 'refused';
  /** For the log. */
  readonly why: string;
}

export interface SignedIn extends Person {
  /** If the provider sends one. */
  readonly sid: string | null;
  /** ms, if the provider sends it. */
  readonly authenticatedAt: number | null;
  /** The refresh token, and when to use it (ms from now); null: no renewal needed. */
  readonly renewal: { readonly token: string; readonly after: number } | null;
}

export interface Proof {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** A session, or a person, at an instant (ms). */
export interface SignedOut {
  readonly sid: string | null;
  readonly subject: string | null;
  readonly at: number;
  /** Unique for the provider; its expiry, ms. */
  readonly token: string;
  readonly validUntil: number;
}

export interface IdentityProvider {
  readonly id: string;
  readonly name: string;
  /** Maximum session age after the sign-in, ms; null: the default. */
  readonly maxAge: number | null;
  begin(proof: Proof, backTo: string): Promise<string | SignInFailure>;
  finish(cameBackTo: string, proof: Proof): Promise<SignedIn | SignInFailure>;
  /** Whether the person is still signed in, and their current data. */
  renew(token: string, subject: string): Promise<SignedIn | SignInFailure>;
  readLogout(token: string): Promise<SignedOut | SignInFailure>;
  /** undefined: signing out of weir is enough. */
  signOutAt(backTo: string): Promise<string | undefined>;
  /** Within the last 30 seconds, or now. */
  answers(): Promise<boolean>;
}
