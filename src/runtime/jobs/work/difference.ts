import { type DifferenceAsked, feedDifference, type ThawAsked } from '../../../feed/whatif/difference/difference.ts';
import { thawDifference } from '../../../feed/whatif/difference/thaw.ts';
import { type ReadingData, reading } from './reading.ts';

export interface DifferenceData extends ReadingData {
  readonly workspaceId: string;
  readonly asked: DifferenceAsked | ThawAsked;
}

export const serve = ({ workspaceId, asked, ...data }: DifferenceData) =>
  reading(data, (parts) => ('thawed' in asked ? thawDifference(workspaceId, asked, parts) : feedDifference(workspaceId, asked, parts)));
