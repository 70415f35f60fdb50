import { feedContract } from './contract/feeds.ts';

feedContract('the embedded engine', async () => ({ settings: {}, stop: async () => {} }));
