import { signalContract } from './signals.ts';

signalContract('the embedded engine', async () => ({ settings: {}, stop: async () => {} }));
