/** In order of creation: referring kinds last. */
import type { FileKind } from './kind.ts';
import { FEED_KIND } from './kinds/feeds.ts';
import { KEY_KIND } from './kinds/keys.ts';
import { LIST_KIND } from './kinds/lists.ts';
import { SOURCE_KIND } from './kinds/sources.ts';
import { WEBHOOK_KIND } from './kinds/webhooks.ts';
import { WORKSPACE_KIND } from './kinds/workspace.ts';

export const FILE_KINDS: readonly FileKind[] = [WORKSPACE_KIND, LIST_KIND, SOURCE_KIND, FEED_KIND, KEY_KIND, WEBHOOK_KIND];
