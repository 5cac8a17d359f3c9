// The one table of exit codes, for scripts.
import type { GatehouseError } from "../../packages/client/src/gatehouse-error.ts";
import { ERRORS } from "../core/errors.ts";

export const EXIT_CODES = {
  done: 0,
  failed: 1,
  /** Wrong usage, or input that Gatehouse refused. */
  refused: 2,
  notFound: 3,
  /** The master key is missing, wrong, or was wrong too often. */
  masterKey: 4,
  /** Gatehouse cannot be reached, or cannot answer now. */
  unavailable: 5,
} as const;

export type ExitCode = (typeof EXIT_CODES)[keyof typeof EXIT_CODES];

export const EXIT_CODES_HELP = `
Exit codes: 0 done, 1 failed, 2 wrong usage or refused input, 3 not found,
            4 master key missing or refused, 5 Gatehouse cannot be reached`;

const EXIT_CODE_OF_ERROR: ReadonlyMap<number, ExitCode> = new Map<number, ExitCode>([
  [ERRORS.invalidRequest.code, EXIT_CODES.refused],
  [ERRORS.invalidJson.code, EXIT_CODES.refused],
  [ERRORS.missingCommand.code, EXIT_CODES.refused],
  [ERRORS.notFound.code, EXIT_CODES.notFound],
  [ERRORS.invalidMasterKey.code, EXIT_CODES.masterKey],
  [ERRORS.missingToken.code, EXIT_CODES.masterKey],
  [ERRORS.tooManyAttempts.code, EXIT_CODES.masterKey],
  [ERRORS.unavailable.code, EXIT_CODES.unavailable],
]);

/** The exit code for an error code of the admin API. */
export function toExitCode(errorCode: number): ExitCode {
  return EXIT_CODE_OF_ERROR.get(errorCode) ?? EXIT_CODES.failed;
}

/** Ends a command: `main` prints the message as one line on standard error and exits with the code. */
export class CommandFailed extends Error {
  override name = "CommandFailed";
  constructor(
    message: string,
    readonly exitCode: ExitCode = EXIT_CODES.failed,
    /** The error as Gatehouse sent it, for commands that look into it. */
    readonly error?: GatehouseError,
  ) {
    super(message);
  }
}

export function failUsage(message: string): never {
  throw new CommandFailed(message, EXIT_CODES.refused);
}
