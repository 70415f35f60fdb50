/** The pages of the interactive documentation, an application of their own. Loaded when they are first asked for. */
import { fastifySwagger } from '@fastify/swagger';
import { fastifySwaggerUi } from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { AGENT_API } from './agent/openapi.ts';
import { NO_SNIFFING } from './answer.ts';
import { BOUNCER_API } from './bouncers/openapi.ts';
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

const HEADERS = { [NO_SNIFFING[0]]: NO_SNIFFING[1], 'Referrer-Policy': 'no-referrer' };

/** Adds the pages of a group at `routePrefix`. */
export function registerPages(app: FastifyInstance, group: keyof typeof APIS, routePrefix: string, baseUrl: string | undefined): void {
  // The plugin's types know OpenAPI up to 3.0 only.
  const document = apiDocument(APIS[group], baseUrl ?? '/') as never;
  app.register(async (scope) => {
    scope.addHook('onRequest', async (_request, reply) => void reply.headers(HEADERS));
    await scope.register(fastifySwagger, { mode: 'static', specification: { document } });
    await scope.register(fastifySwaggerUi, {
      routePrefix,
      staticCSP: CONTENT_SECURITY_POLICY,
      uiConfig: { layout: 'BaseLayout', deepLinking: true, persistAuthorization: false, validatorUrl: null },
    });
  });
}
