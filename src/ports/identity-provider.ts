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
  /** The provider's session id, if it sends one. */
  readonly sid: string | null;
  /** Time of the sign-in at the provider, ms, if it sends one. */
  readonly authenticatedAt: number | null;
  /** The refresh token, and when to use it (ms from now); null: no renewal needed. */
  readonly renewal: { readonly token: string; readonly after: number } | null;
}

export interface Proof {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** A back-channel logout: a session, or a person, at an instant (ms). */
export interface SignedOut {
  readonly sid: string | null;
  readonly subject: string | null;
  readonly at: number;
  /** Id of the logout token, unique for the provider, and its expiry (ms). */
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
  /** Checks that the person is still signed in, and returns their current data. */
  renew(token: string, subject: string): Promise<SignedIn | SignInFailure>;
  readLogout(token: string): Promise<SignedOut | SignInFailure>;
  /** The provider's sign-out URL; undefined: signing out of weir is enough. */
  signOutAt(backTo: string): Promise<string | undefined>;
  /** Whether the provider has responded within the last 30 seconds, or responds now. */
  answers(): Promise<boolean>;
}
