import { feedContract } from './feeds.ts';

feedContract('the embedded engine', async () => ({ settings: {}, stop: async () => {} }));
