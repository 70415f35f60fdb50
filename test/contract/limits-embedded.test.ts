import { EMBEDDED } from './engine.ts';
import { limitContract } from './limits.ts';

limitContract(EMBEDDED);
