/** Certificate and key in PEM. */
export interface TlsMaterial {
  /** With its intermediate certificates. */
  readonly cert: string;
  readonly key: string;
  /** CAs for client certificates; undefined: none are requested. */
  readonly ca: string | undefined;
}

export interface TlsSource {
  current(): TlsMaterial;
  /** Existing connections keep the old material. */
  onChange(use: (material: TlsMaterial) => void): void;
}
