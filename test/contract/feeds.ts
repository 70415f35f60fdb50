/** What clients of the feeds may rely on, over real HTTP; every engine runs it. */
import { contractSuite, type Engine } from './engine.ts';
import { agentTests } from './feeds/agent.ts';
import { capTests } from './feeds/cap.ts';
import { composedFeedTests } from './feeds/composed.ts';
import { contentTests } from './feeds/content.ts';
import { errorTests } from './feeds/errors.ts';
import { forecastTests } from './feeds/forecast.ts';
import { formatTests } from './feeds/formats.ts';
import { listTests } from './feeds/lists.ts';
import { representationTests } from './feeds/representations.ts';
import { ruleTests } from './feeds/rules.ts';
import { timeTests } from './feeds/time.ts';
import { startFeedWorld } from './feeds/world.ts';

export function feedContract(engine: Engine): void {
  contractSuite('feeds', engine, startFeedWorld, (feeds, once) => {
    contentTests(feeds, once);
    formatTests(feeds, once);
    representationTests(feeds, once);
    listTests(feeds, once);
    composedFeedTests(feeds, once);
    capTests(feeds, once);
    forecastTests(feeds, once);
    errorTests(feeds, once);
    ruleTests(feeds, once);
    agentTests(feeds, once);
    timeTests(feeds, once);
  });
}
