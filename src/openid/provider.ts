/**
 * An OpenID Connect provider, configured by its discovery document: authorization code with PKCE, refresh, back-channel logout (SPEC D24.3,
 * D24.5, D24.6).
 */
import * as jose from 'jose';
import * as openid from 'openid-client';
import type { IdentityProvider, Proof, SignedIn, SignedOut, SignInFailure } from '../ports/identity-provider.ts';
import { shared } from '../serial.ts';
import { ANSWER_TIME, failureOf, fetchAnswer } from './answers.ts';
import { claimsFault, groupsIn, nameIn } from './claims.ts';
import type { ProviderSettings } from './settings.ts';

/** Lifetime of a discovery document and of a reachability check, and the retry interval for an unreachable provider, ms. */
const DOCUMENT_LIFETIME = 3_600_000;
const KNOWN_TO_ANSWER = 30_000;
const RETRY = 5000;
/** Minimum, maximum and default interval of session checks, ms. The provider sets the interval within these limits. */
const [SOONEST, LATEST, USUAL] = [60_000, 3_600_000, 300_000];
/** Maximum age of a logout token, s. */
const LOGOUT_AGE = 300;
const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** Accepted signature algorithms: asymmetric ones only. */
const SIGNATURES = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'];

interface Known {
  readonly config: openid.Configuration;
  readonly keys: jose.JWTVerifyGetKey;
}

/** Contacts the provider on first use. `monotonic`: ms. */
export function openProvider(settings: ProviderSettings, monotonic: () => number): IdentityProvider {
  const { id, name, max_age: maxAge, clock_tolerance: tolerance = 30, scope = 'openid profile email' } = settings;
  const once = shared<Known>();
  let known: (Known & { readonly at: number }) | undefined;
  let failure: { readonly fault: unknown; readonly at: number } | undefined;

  /** Returns metadata of at most this age; older metadata if the provider is unreachable. */
  async function discovered(age = DOCUMENT_LIFETIME): Promise<Known> {
    if (known !== undefined && monotonic() - known.at < age) return known;
    if (failure === undefined || monotonic() - failure.at >= RETRY) {
      try {
        const found = await once(() => discover(settings, tolerance));
        known = { ...found, at: monotonic() };
        failure = undefined;
        return known;
      } catch (fault) {
        failure = { fault, at: monotonic() };
      }
    }
    if (known === undefined) throw failure.fault;
    return known;
  }

  const faultOf = (claims: Readonly<Record<string, unknown>>) => claimsFault(claims, settings.client_id, Date.now() / 1000 + tolerance);

  async function personOf(
    { config }: Known,
    tokens: Awaited<ReturnType<typeof openid.refreshTokenGrant>>,
    subject: string,
  ): Promise<SignedIn> {
    const claims: Record<string, unknown> = { ...tokens.claims() };
    const fault = faultOf(claims);
    if (fault !== undefined) throw new Error(`the id token is refused: ${fault}`);
    const asks = groupsIn(claims, settings) === undefined && config.serverMetadata().userinfo_endpoint !== undefined;
    const all = asks ? { ...(await openid.fetchUserInfo(config, tokens.access_token, subject)), ...claims } : claims;
    const { sid, auth_time: at } = claims;
    return {
      provider: id,
      subject,
      name: nameIn(all, settings) ?? subject,
      groups: groupsIn(all, settings) ?? [],
      sid: typeof sid === 'string' ? sid.slice(0, 256) : null,
      authenticatedAt: typeof at === 'number' ? at * 1000 : null,
      renewal: renewalOf(tokens.refresh_token, tokens.expires_in),
    };
  }

  const attempt = async <T>(work: (known: Known) => Promise<T>): Promise<T | SignInFailure> => {
    try {
      return await work(await discovered());
    } catch (error) {
      return failureOf(error);
    }
  };

  return {
    id,
    name,
    maxAge: maxAge === undefined ? null : maxAge * 1000,
    begin: ({ state, nonce, verifier }, backTo) =>
      attempt(async () => {
        // Do not redirect a browser to an unreachable provider.
        const { config } = await discovered(KNOWN_TO_ANSWER);
        if (failure !== undefined) throw failure.fault;
        const asked = {
          ...settings.parameters,
          ...(maxAge !== undefined && { max_age: String(maxAge) }),
          redirect_uri: backTo,
          scope,
          state,
          nonce,
          code_challenge: await openid.calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
        };
        return openid.buildAuthorizationUrl(config, asked).href;
      }),
    finish: (cameBackTo, { state, nonce, verifier }: Proof) =>
      attempt(async (at) => {
        const checks = {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
          ...(maxAge !== undefined && { maxAge }),
        };
        const tokens = await openid.authorizationCodeGrant(at.config, new URL(cameBackTo), checks);
        return personOf(at, tokens, tokens.claims()!.sub);
      }),
    renew: (token, subject) =>
      attempt(async (at) => {
        const tokens = await openid.refreshTokenGrant(at.config, token);
        const renewedSubject = tokens.claims()?.sub ?? subject;
        if (renewedSubject !== subject)
          return { failed: 'refused' as const, why: 'the provider has renewed the session of another person' };
        const person = await personOf(at, tokens, subject);
        // A provider may reuse the previous refresh token.
        return { ...person, renewal: person.renewal ?? renewalOf(token, tokens.expires_in) };
      }),
    readLogout: (token) =>
      attempt(async ({ config, keys }): Promise<SignedOut | SignInFailure> => {
        const { payload } = await jose.jwtVerify(token, keys, {
          issuer: config.serverMetadata().issuer,
          audience: settings.client_id,
          algorithms: SIGNATURES,
          clockTolerance: tolerance,
          maxTokenAge: LOGOUT_AGE,
          requiredClaims: ['iat', 'jti', 'events'],
        });
        const { events, nonce, sid = null, sub = null, iat, jti } = payload;
        const isLogout = typeof events === 'object' && events !== null && LOGOUT_EVENT in events && nonce === undefined;
        const areNames = [sid, sub].every((each) => each === null || (typeof each === 'string' && each !== '')) && (sid ?? sub) !== null;
        if (!isLogout || !areNames || typeof jti !== 'string' || jti === '' || faultOf(payload) !== undefined)
          return { failed: 'refused', why: 'it is not a logout token for this client' };
        const at = (iat! + tolerance) * 1000;
        return { sid: sid as string | null, subject: sub, at, token: jti, validUntil: at + LOGOUT_AGE * 1000 };
      }),
    async signOutAt(backTo) {
      const known = settings.sign_out_there === true ? await discovered().catch(() => undefined) : undefined;
      // The local session ends even if the provider has no logout.
      if (known?.config.serverMetadata().end_session_endpoint === undefined) return undefined;
      return openid.buildEndSessionUrl(known.config, { post_logout_redirect_uri: backTo }).href;
    },
    async answers() {
      const result = await discovered(KNOWN_TO_ANSWER).catch(() => undefined);
      return result !== undefined && failure === undefined;
    },
  };
}

const renewalOf = (token: string | undefined, seconds = USUAL / 1000): SignedIn['renewal'] =>
  token === undefined ? null : { token, after: Math.min(Math.max(seconds * 1000, SOONEST), LATEST) };

async function discover({ issuer, client_id: clientId, client_secret: secret }: ProviderSettings, tolerance: number): Promise<Known> {
  const url = new URL(issuer);
  const execute = [openid.enableNonRepudiationChecks, ...(url.protocol === 'http:' ? [openid.allowInsecureRequests] : [])];
  const options = { [openid.customFetch]: fetchAnswer as openid.CustomFetch, timeout: ANSWER_TIME / 1000, execute };
  const found = await openid.discovery(url, clientId, undefined, openid.None(), options);
  const { supportsPKCE: _, ...server } = found.serverMetadata();
  const config = new openid.Configuration(
    {
      ...server,
      id_token_signing_alg_values_supported: server.id_token_signing_alg_values_supported?.filter((name) => SIGNATURES.includes(name)),
    },
    clientId,
    { [openid.clockTolerance]: tolerance },
    authentication(secret, server.token_endpoint_auth_methods_supported),
  );
  config[openid.customFetch] = fetchAnswer as openid.CustomFetch;
  config.timeout = ANSWER_TIME / 1000;
  for (const set of execute) set(config);
  const keys = jose.createRemoteJWKSet(new URL(server.jwks_uri!), {
    [jose.customFetch]: fetchAnswer as jose.FetchImplementation,
    timeoutDuration: ANSWER_TIME,
  });
  return { config, keys };
}

/** Client authentication: in the body if supported (needs no quoting), else in a header. */
function authentication(secret: string | undefined, methods: readonly string[] | undefined): openid.ClientAuth {
  if (secret === undefined) return openid.None();
  return methods?.includes('client_secret_post') ? openid.ClientSecretPost(secret) : openid.ClientSecretBasic(secret);
}
