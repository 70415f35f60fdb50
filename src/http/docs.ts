import { fastifySwagger } from '@fastify/swagger';
import { fastifySwaggerUi } from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { FEED_API } from './feeds/openapi.ts';
import { apiDocument } from './openapi.ts';
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

const APIS = { signal: SIGNAL_API, feeds: FEED_API };

/**
 * Serves the interactive documentation of each group at `/docs/<group>/swagger/` and its OpenAPI document at `…/swagger/json`,
 * without a key.
 */
export function registerDocs(app: FastifyInstance, baseUrl: string | undefined): void {
  for (const [group, api] of Object.entries(APIS)) {
    // The plugin's types know OpenAPI up to 3.0 only.
    const document = apiDocument(api, baseUrl ?? '/') as never;
    app.register(async (scope) => {
      await scope.register(fastifySwagger, { mode: 'static', specification: { document } });
      await scope.register(fastifySwaggerUi, {
        routePrefix: `/docs/${group}/swagger`,
        staticCSP: CONTENT_SECURITY_POLICY,
        uiConfig: { layout: 'BaseLayout', deepLinking: true, persistAuthorization: false, validatorUrl: null },
      });
    });
  }
}
