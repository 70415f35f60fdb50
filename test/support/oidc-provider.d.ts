/** What the tests use of `oidc-provider`, which comes without types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  interface Context {
    readonly req: IncomingMessage;
    readonly res: ServerResponse;
    readonly path: string;
    readonly oidc?: { readonly session?: { readonly accountId?: string } };
    body: unknown;
    status: number;
    respond?: boolean;
  }
  interface Grant {
    addOIDCScope(scope: string): void;
    save(): Promise<string>;
  }
  // biome-ignore lint/style/noDefaultExport: it is the package's
  export default class Provider {
    constructor(issuer: string, configuration: object);
    readonly Grant: new (of: {
      readonly accountId: string;
      readonly clientId: string;
    }) => Grant;
    readonly Client: { find(id: string): Promise<{ backchannelLogout(subject: string, sid: string): Promise<void> }> };
    use(middleware: (context: Context, next: () => Promise<void>) => Promise<void>): void;
    callback(): (request: IncomingMessage, response: ServerResponse) => void;
    interactionDetails(
      request: IncomingMessage,
      response: ServerResponse,
    ): Promise<{ readonly params: { readonly client_id: string; readonly scope: string }; readonly grantId?: string }>;
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>;
  }
}
