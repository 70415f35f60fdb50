import { fastifySwagger } from '@fastify/swagger';
import { fastifySwaggerUi } from '@fastify/swagger-ui';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AGENT_API } from './agent/openapi.ts';
import { jsonAnswer, NO_SNIFFING, send } from './answer.ts';
import { BOUNCER_API } from './bouncers/openapi.ts';
import { movedTo } from './console/routes.ts';
import { FEED_API } from './feeds/openapi.ts';
import { MANAGE_API } from './manage/openapi.ts';
import { apiDocument } from './openapi.ts';
import { RULES_API } from './rules/openapi.ts';
import { SIGNAL_API } from './signals/openapi.ts';

/** Lets the page load from this server only. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const APIS = { signal: SIGNAL_API, feeds: FEED_API, rules: RULES_API, agent: AGENT_API, bouncer: BOUNCER_API, manage: MANAGE_API };

/** Where the documentation of each group is. */
const PAGES = Object.fromEntries(Object.keys(APIS).map((group) => [group, `/docs/${group}/swagger/`]));

const HEADERS = { [NO_SNIFFING[0]]: NO_SNIFFING[1], 'Referrer-Policy': 'no-referrer' };

/**
 * Serves the interactive documentation of each group at `/docs/<group>/swagger/` and its OpenAPI document at `…/swagger/json`,
 * without a key; `/` says where they are, and leads browsers to the console, where there is one.
 */
export function registerDocs(app: FastifyInstance, baseUrl: string | undefined, hasConsole = false): void {
  const pages = jsonAnswer(200, JSON.stringify({ service: 'weir', docs: PAGES, health: { alive: '/healthz', ready: '/readyz' } }));
  const isBrowser = ({ headers }: FastifyRequest) => hasConsole && headers.accept?.includes('text/html') === true;
  app.route({
    method: ['GET', 'HEAD'],
    url: '/',
    handler: (request, reply) => send(reply, isBrowser(request) ? movedTo('/console/') : pages),
  });
  for (const [group, api] of Object.entries(APIS)) {
    // The plugin's types know OpenAPI up to 3.0 only.
    const document = apiDocument(api, baseUrl ?? '/') as never;
    app.register(async (scope) => {
      scope.addHook('onRequest', async (_request, reply) => void reply.headers(HEADERS));
      await scope.register(fastifySwagger, { mode: 'static', specification: { document } });
      await scope.register(fastifySwaggerUi, {
        routePrefix: `/docs/${group}/swagger`,
        staticCSP: CONTENT_SECURITY_POLICY,
        uiConfig: { layout: 'BaseLayout', deepLinking: true, persistAuthorization: false, validatorUrl: null },
      });
    });
  }
}
