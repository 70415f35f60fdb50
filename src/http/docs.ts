import { type FastifyInstance, type FastifyRequest, fastify, LogController } from 'fastify';
import { jsonAnswer, send } from './answer.ts';
import { movedTo } from './console/routes.ts';

const GROUPS = ['signal', 'feeds', 'rules', 'agent', 'bouncer', 'manage'] as const;

/** Where the documentation of a group is, without the slash at its end. */
const prefixOf = (group: string) => `/docs/${group}/swagger`;
const PAGES = Object.fromEntries(GROUPS.map((group) => [group, `${prefixOf(group)}/`]));

interface Docs {
  /** The server of the documents. */
  readonly baseUrl: string | undefined;
  /** Whether there is a console. */
  readonly console?: boolean;
  /** Says how the application of the pages answers errors. */
  readonly prepare?: (pages: FastifyInstance) => void;
}

/**
 * Serves the interactive documentation of each group at `/docs/<group>/swagger/` and its OpenAPI document at `…/swagger/json`,
 * without a key; `/` says where they are, and leads browsers to the console, where there is one.
 */
export function registerDocs(app: FastifyInstance, { baseUrl, console = false, prepare = () => {} }: Docs): void {
  const method = ['GET', 'HEAD'];
  const pages = jsonAnswer(200, JSON.stringify({ service: 'weir', docs: PAGES, health: { alive: '/healthz', ready: '/readyz' } }));
  const isBrowser = ({ headers }: FastifyRequest) => console && headers.accept?.includes('text/html') === true;
  app.route({ method, url: '/', handler: (request, reply) => send(reply, isBrowser(request) ? movedTo('/console/') : pages) });

  // Made at the first request: what the pages need is a sixth of a start, and a router takes no routes once it answers.
  let making: Promise<FastifyInstance['routing']> | undefined;
  async function make(): Promise<FastifyInstance['routing']> {
    const { registerPages } = await import('./docs-pages.ts');
    const made = fastify({
      loggerInstance: app.log,
      logController: new LogController({ disableRequestLogging: true }),
    });
    prepare(made);
    for (const group of GROUPS) registerPages(made, group, prefixOf(group), baseUrl);
    await made.ready();
    return made.routing;
  }
  app.route({
    method,
    url: '/docs/*',
    async handler(request, reply) {
      making ??= make().catch((error) => {
        making = undefined;
        throw error;
      });
      const answer = await making;
      reply.hijack();
      answer(request.raw, reply.raw);
    },
  });
}
