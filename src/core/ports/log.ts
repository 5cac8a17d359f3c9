// Structured logging.

/** `fields` must not hold secrets. The adapter also redacts secrets that it recognises. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
