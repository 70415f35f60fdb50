/** The API documentation (spec 1). */
import { jsonAnswer, movedTo } from '../answer.ts';
import type { Answered, Call } from '../call.ts';
import { GROUP_NAMES, GROUPS } from '../groups.ts';
import type { Docs } from '../handlers.ts';

const PAGES = Object.fromEntries(GROUP_NAMES.map((group) => [GROUPS[group].docs, `/docs/${GROUPS[group].docs}/swagger/`]));

export function docs({ baseUrl, console }: { readonly baseUrl: string | undefined; readonly console: boolean }): Docs {
  const start = jsonAnswer(200, JSON.stringify({ service: 'weir', docs: PAGES, health: { alive: '/healthz', ready: '/readyz' } }));
  let pages: Promise<(call: Call) => Answered> | undefined;
  const isBrowser = ({ request }: Call) => console && request.headers.accept?.includes('text/html') === true;
  return {
    start: (call) => (isBrowser(call) ? movedTo('/console/') : start),
    async page(call) {
      // Loading it at startup would take a sixth of the start.
      pages ??= import('./pages.ts').then(({ documentPages }) => documentPages(baseUrl ?? '/'));
      return (await pages)(call);
    },
  };
}
