import { ADDRESSES } from '../../src/http/addresses.ts';
import { type App, appOn } from '../../src/http/app.ts';
import { docs } from '../../src/http/docs/docs.ts';

/** An application that has the documentation and nothing else. */
export const docsApp = (baseUrl?: string): App => appOn({ docs: docs({ baseUrl, console: false }) }, ADDRESSES);
