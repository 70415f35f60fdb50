import { EMBEDDED } from './engine.ts';
import { replaceContract } from './replace.ts';

replaceContract(EMBEDDED);
