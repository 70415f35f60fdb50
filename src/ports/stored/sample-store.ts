/** The store of samples: requests of good traffic that rules are tried on (SPEC D21). Types only. */
import type { Author } from '../../account/caller.ts';
import type { SampleInfo, SampleLimit } from '../../account/sample.ts';
import type { ChangeOptions } from './account-store.ts';

/** The requests of a sample as they are kept: lines of JSON, packed with gzip, in parts of at most 1 MiB. */
export interface SampleContent {
  readonly requests: number;
  /** Of the text, bytes. */
  readonly bytes: number;
  readonly parts: readonly Uint8Array[];
}

export interface SampleReads {
  /** What is known of a workspace's sample; undefined = it has none. */
  sample(workspaceId: string): Promise<SampleInfo | undefined>;
  /** A part of its content, from 0; undefined behind the last one. Ask `sample` again behind it: another revision is other content. */
  samplePart(workspaceId: string, part: number): Promise<Uint8Array | undefined>;
}

export interface SampleWrites {
  /** Puts a sample in the place of the one before, whose limit stays. */
  writeSample(workspaceId: string, content: SampleContent, by?: Author): Promise<SampleInfo>;
  /** Changes the limit, also where there is no sample yet. Throws CHANGED where it is none of `ifMatch`. */
  limitSample(workspaceId: string, limit: Partial<SampleLimit>, options?: ChangeOptions): Promise<SampleInfo>;
  /** Whether there was one. */
  deleteSample(workspaceId: string, by?: Author): Promise<boolean>;
}
