/** What a server needs to speak TLS. Types only. */

/** A certificate and what belongs to it, as PEM texts. */
export interface TlsMaterial {
  /** The certificate, with those of the authorities between it and the root. */
  readonly cert: string;
  readonly key: string;
  /** The authorities whose certificates clients have to show; undefined: none are asked for. */
  readonly ca: string | undefined;
}

/** The material in use, and newer one as soon as there is some. */
export interface TlsSource {
  current(): TlsMaterial;
  /** Calls `use` with each newer material. Connections that are open keep theirs. */
  onChange(use: (material: TlsMaterial) => void): void;
}
