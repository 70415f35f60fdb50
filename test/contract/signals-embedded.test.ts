import { EMBEDDED } from './engine.ts';
import { signalContract } from './signals.ts';

signalContract(EMBEDDED);
