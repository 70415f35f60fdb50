/** The ledger of devices (SPEC D16.7 to D16.12). Types only; `storeConformance` is run by every driver. */
import type { DeviceDocument, DeviceState, SeenDevice } from '../account/device.ts';

/** A device as it is shown. */
export interface Device extends Omit<DeviceState, 'countedFrom' | 'counted' | 'documents'> {
  readonly workspaceId: string;
  /** How often it usually pulls, ms; null while that is not known. */
  readonly interval: number | null;
  readonly documents: readonly ShownDocument[];
}

export interface ShownDocument extends DeviceDocument {
  /** When the newest content appeared that weir has made of it, whole seconds; null where that is not known. */
  readonly newestModified: number | null;
  /** Of when the latest read of the rules was that has made this content, ms; null where that is not known. */
  readonly confirmedAt: number | null;
}

/** Which devices, in the order of their ids. */
export interface DevicePage {
  readonly keyId?: string;
  /** Those that have pulled since, ms. */
  readonly since?: number;
  /** Those behind the device with this id. */
  readonly after?: string;
  readonly limit: number;
}

/** Devices that showed a key which is not valid: `hash` is its SHA-256. Whether it ever was one, the store knows. */
export interface RefusedDevice {
  readonly hash: Uint8Array;
  readonly seen: Omit<SeenDevice, 'keyId' | 'workspaceId'>;
}

/** What a process has seen of devices in a while. */
export interface SeenDevices {
  /** To be read once; each is made as it is read, so that who writes them in pieces holds up nothing. */
  readonly devices: Iterable<SeenDevice>;
  readonly refused: readonly RefusedDevice[];
}

/** Where a process notes what it sees of devices. */
export interface DeviceNotes {
  /** What was seen since the last call. */
  take(): SeenDevices;
  /** The same of newcomers alone: those that were not seen between the two calls before. */
  takeNew(): SeenDevice[];
  /** `call` is called when there are newcomers. */
  onNew(call: () => void): void;
}

/** A key by its id, whether it is valid or not. */
export interface KeyName {
  readonly keyId: string;
  readonly workspaceId: string;
}

/** A device, or a bouncer that followed the stream, which has stopped pulling; the id is its own in its workspace. */
export interface Stopped {
  readonly kind: 'device' | 'bouncer';
  readonly id: string;
  readonly workspaceId: string;
  readonly keyId: string;
  readonly userAgent: string;
  readonly address: string;
  /** Of the key; null for one without a name. */
  readonly keyName: string | null;
  /** The names of the feeds that it got; null: the workspace's own. */
  readonly feeds: readonly (string | null)[];
  /** ms since 1970 */
  readonly lastPull: number;
}

/** So many of each kind are told at once. */
export const STOPPED_TOLD = 100;
/** A bouncer that follows the stream has stopped after so long without a pull, once it did it for as long, ms. */
export const BOUNCER_PATIENCE = 3_600_000;

export interface DeviceReads {
  /** What has stopped pulling within the day before `now` (ms), in one workspace or in all (null), the last first; STOPPED_TOLD of each kind. */
  stoppedClients(workspaceId: string | null, now: number): Promise<Stopped[]>;
  devices(workspaceId: string, page: DevicePage): Promise<Device[]>;
  /** How many devices pull regularly, and how many of those have stopped since an instant (ms) and are not back. */
  deviceCounts(since: number): Promise<{ readonly pulling: number; readonly stopped: number }>;
  /** The workspace of a key, also of one that is not valid; undefined when there is no such key. */
  workspaceOfKey(keyId: string): Promise<string | undefined>;
  /** The keys with these SHA-256, revoked and expired ones too, each with its place among the given ones. */
  keysByHash(hashes: readonly Uint8Array[]): Promise<ReadonlyMap<number, KeyName>>;
}

export interface DeviceWrites {
  /**
   * Adds what was seen to what is known. A workspace keeps 5,000 devices, those that pulled last. Returns the devices that had stopped
   * and are back, as they were before.
   */
  noteDevices(seen: readonly SeenDevice[]): Promise<Device[]>;
  /**
   * Marks the devices that are overdue at `now` (ms), those aside that are not after `running` ms without a pull: for as long the service
   * may have been down itself. Each is returned once, whoever asks. Keeps `most` devices in all (50,000 when absent): a workspace that has less than its share of them loses none for those of others.
   */
  markStopped(at: { readonly now: number; readonly running: number; readonly most?: number }): Promise<Device[]>;
}
