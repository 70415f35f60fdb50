/** A real provider of OpenID Connect in this process, and somebody with a browser's cookies who signs in with it. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { SignJWT } from 'jose';
import Provider from 'oidc-provider';
import { ask, freePort, type Headers, type Reply } from './http.ts';

export const CLIENT = { id: 'weir', secret: 'a-secret-of-the-tests-0123456789' };
const KEY_ID = 'test';

/** Somebody whom the provider knows. */
export interface Account {
  readonly name: string;
  groups: string[];
}

export interface TestProvider {
  readonly issuer: string;
  readonly accounts: Record<string, Account>;
  /** Who sits before the provider: he is signed in there without being asked. */
  person: string;
  /** Changes what the token endpoint answers, the claims of the id token given. */
  tamper: ((answer: TokenAnswer, claims: Record<string, unknown>) => Promise<void> | void) | undefined;
  /** How often the token endpoint was asked. */
  readonly asked: { token: number; document: number };
  /** A token that this provider has signed. */
  sign(claims: Record<string, unknown>, header?: Record<string, unknown>): Promise<string>;
  /** Stops answering, and answers again. */
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
  /** Takes all that it has given to somebody: what is asked again is refused. */
  disown(): void;
}

interface TokenAnswer {
  id_token: string;
  [field: string]: unknown;
}

/** Writes the file of a provider, whose group `admins` are administrators. */
export function writeProvider(file: string, { issuer }: Pick<TestProvider, 'issuer'>, more: object = {}): void {
  const roles = [{ group: 'admins', role: 'admin', workspaces: ['*'] }];
  const main = { id: 'main', name: 'Acme', issuer, client_id: CLIENT.id, client_secret: CLIENT.secret, roles, ...more };
  writeFileSync(file, JSON.stringify({ providers: [main] }));
}

/** Starts a provider for a weir at `baseUrl`. */
export async function startProvider(baseUrl: string, name = 'main'): Promise<TestProvider> {
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const jwk = { ...privateKey.export({ format: 'jwk' }), kid: KEY_ID, use: 'sig', alg: 'RS256' };
  const accounts: Record<string, Account> = {};
  let disowned = false;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [`${baseUrl}/console/sign-in/${name}/callback`],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        backchannel_logout_uri: `${baseUrl}/console/sign-in/${name}/logout`,
        backchannel_logout_session_required: true,
        post_logout_redirect_uris: [`${baseUrl}/console/?left`],
      },
    ],
    jwks: { keys: [jwk] },
    cookies: { keys: ['a key of the tests'] },
    features: { devInteractions: { enabled: false }, backchannelLogout: { enabled: true } },
    claims: { openid: ['sub'], profile: ['name', 'groups'] },
    conformIdTokenClaims: false,
    issueRefreshToken: async () => true,
    findAccount: async (_: unknown, id: string) =>
      disowned || accounts[id] === undefined
        ? undefined
        : { accountId: id, claims: async () => ({ sub: id, name: accounts[id]!.name, groups: accounts[id]!.groups }) },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    ttl: { AccessToken: 60, AuthorizationCode: 60, IdToken: 60, RefreshToken: 3600, Session: 3600, Grant: 3600, Interaction: 600 },
  });
  const self: TestProvider = {
    issuer,
    accounts,
    person: '',
    tamper: undefined,
    asked: { token: 0, document: 0 },
    sign: (claims, header = { alg: 'RS256', kid: KEY_ID }) => signed(privateKey, claims, header),
    async goAway() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
    async comeBack() {
      server = await listen();
    },
    disown() {
      disowned = true;
    },
  };
  provider.use(async (context, next) => {
    if (context.path.startsWith('/interaction/')) return signInAtOnce(context);
    await next();
    if (context.path === '/.well-known/openid-configuration') self.asked.document += 1;
    if (context.path !== '/token') return;
    self.asked.token += 1;
    const answer = context.body as TokenAnswer;
    if (self.tamper !== undefined && typeof answer.id_token === 'string') await self.tamper(answer, claimsOf(answer.id_token));
  });
  /** Nobody is asked for a password or for his consent. */
  async function signInAtOnce({
    req,
    res,
  }: {
    req: Parameters<Provider['interactionDetails']>[0];
    res: Parameters<Provider['interactionDetails']>[1];
    respond?: boolean;
  }) {
    const { params } = await provider.interactionDetails(req, res);
    const grant = new provider.Grant({ accountId: self.person, clientId: params.client_id });
    grant.addOIDCScope(params.scope);
    await provider.interactionFinished(req, res, { login: { accountId: self.person }, consent: { grantId: await grant.save() } });
  }
  const listen = () =>
    new Promise<Server>((resolve) => {
      const listening = createServer(provider.callback()).listen(port, '127.0.0.1', () => resolve(listening));
    });
  let server = await listen();
  return self;
}

export const claimsOf = (token: string): Record<string, unknown> => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());

const signed = (key: KeyObject, claims: Record<string, unknown>, header: Record<string, unknown>) =>
  new SignJWT(claims).setProtectedHeader(header as { alg: string }).sign(key);

/** A browser without a window: it keeps cookies by host and port, and goes where it is sent. */
export class Visitor {
  readonly #jar = new Map<string, Map<string, string>>();

  #cookies(origin: string): string | undefined {
    const own = [...(this.#jar.get(origin) ?? [])].map(([name, value]) => `${name}=${value}`).join('; ');
    return own === '' ? undefined : own;
  }

  /** Cookies are those of `as`, where a service has several addresses. */
  async open(
    url: string,
    { method = 'GET', headers = {}, body }: { method?: string; headers?: Headers; body?: string } = {},
    as = new URL(url).origin,
  ): Promise<Reply> {
    const { origin, pathname, search } = new URL(url);
    const reply = await ask(origin, pathname + search, {
      method,
      headers: { cookie: this.#cookies(as), ...headers },
      ...(body !== undefined && { body }),
    });
    const jar = this.#jar.get(as) ?? new Map<string, string>();
    this.#jar.set(as, jar);
    for (const [, name, value] of (reply.headers['set-cookie'] ?? '').matchAll(/(?:^|, )([\w.-]+)=([^;,]*)/g)) {
      if (!['expires', 'path'].includes(name!.toLowerCase())) jar.set(name!, value!);
    }
    return reply;
  }

  /** Signs in at a weir as a person of the provider. Returns the address that the provider leads back to. */
  async signIn(provider: TestProvider, person: string, weir: string): Promise<string> {
    provider.person = person;
    return this.follow(`${weir}/console/sign-in/main`, `${weir}/console/sign-in/main/callback`);
  }

  /** Follows redirects until one leads to an address that begins with `until`; that address. */
  async follow(url: string, until: string): Promise<string> {
    for (let at = url, hops = 0; hops < 12; hops += 1) {
      const { status, headers, text } = await this.open(at);
      if (status < 300 || status > 399) throw new Error(`${at} is answered with ${status}: ${text.slice(0, 500)}`);
      at = new URL(headers.location!, at).href;
      if (at.startsWith(until)) return at;
    }
    throw new Error(`${url} never leads to ${until}`);
  }
}
