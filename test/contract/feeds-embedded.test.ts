import { EMBEDDED } from './engine.ts';
import { feedContract } from './feeds.ts';

feedContract(EMBEDDED);
