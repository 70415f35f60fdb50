import { EMBEDDED } from './engine.ts';
import { expressionContract } from './expressions.ts';

expressionContract(EMBEDDED);
