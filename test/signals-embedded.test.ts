import { signalContract } from './contract/signals.ts';

signalContract('the embedded engine', async () => ({ settings: {}, stop: async () => {} }));
