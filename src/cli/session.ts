// Shared by all commands that call the admin API: options, client, printer, and whether the user can be asked.
import { type Command, InvalidArgumentError } from "commander";
import { readEnvironment } from "../config.ts";
import type { PageOf } from "../core/wire/page.ts";
import { findAdminAddress, findSetting } from "./admin-address.ts";
import { AdminClient, type AdminRequest } from "./admin-client.ts";
import { CommandFailed, EXIT_CODES, EXIT_CODES_HELP, failUsage } from "./exit-codes.ts";
import { readInputLine } from "./input-lines.ts";
import { checkMasterKey, findMasterKey, type MasterKey } from "./master-key.ts";
import { openStandardPrinter, type Printer } from "./printer.ts";
import { askSecret, askYes } from "./prompts.ts";
import { proveAddress } from "./prove-address.ts";

/** Rows of a table without --limit, for lists that grow for ever. */
export const ROWS_DEFAULT = 50;

const DATA_DIR_DEFAULT = "./data";

export type SessionOptions = {
  readonly url?: string;
  readonly masterKeyFile?: string;
  readonly caFile?: string;
  readonly dataDir?: string;
  readonly allowHttp?: boolean;
  readonly json?: boolean;
};

export type Session = {
  readonly admin: AdminClient;
  readonly printer: Printer;
  readonly wantsJson: boolean;
  /** Whether the program runs in a terminal, without --json. */
  readonly canAsk: boolean;
  readonly now: () => number;
};

export function addSessionOptions(command: Command): Command {
  return command
    .option("--json", "print what the admin API answers, for programs")
    .optionsGroup("Connection:")
    .option("--url <address>", "where Gatehouse is (GATEHOUSE_URL, else the local settings)")
    .option(
      "--master-key-file <file>",
      "file with the master key, - for standard input (GATEHOUSE_MASTER_KEY, else master.key in the data folder)",
    )
    .option("--ca-file <file>", "certificate to trust as well, in PEM form")
    .option("--data-dir <folder>", "data folder of the local Gatehouse (GATEHOUSE_DATA_DIR, default ./data)")
    .option("--allow-http", "send the master key without TLS to an address that cannot be checked")
    .addHelpText("after", EXIT_CODES_HELP);
}

export async function openSession(options: SessionOptions): Promise<Session> {
  // The reader of our output may close it early, as in `| head`.
  process.stdout.on("error", () => process.exit(EXIT_CODES.failed));
  const environment = readEnvironment(process.cwd(), {
    ...(options.dataDir !== undefined && { GATEHOUSE_DATA_DIR: options.dataDir }),
  });
  const wantsJson = options.json === true;
  const canAsk = Boolean(process.stdin.isTTY && process.stdout.isTTY) && !wantsJson;
  const address = findAdminAddress(options, environment);
  const masterKey: MasterKey =
    options.masterKeyFile === "-" && canAsk
      ? checkMasterKey(await askSecret("Master key"), "you typed")
      : findMasterKey(options.masterKeyFile, environment);
  const proven = await proveAddress(address, {
    dataDir: findSetting(environment, "GATEHOUSE_DATA_DIR") ?? DATA_DIR_DEFAULT,
    allowsHttp: options.allowHttp === true,
  });
  return {
    admin: new AdminClient(proven, masterKey),
    printer: openStandardPrinter(environment),
    wantsJson,
    canAsk,
    now: Date.now,
  };
}

/** Sends a request. With --json it prints the body of the answer unchanged, otherwise `show` prints the resource. */
export async function callAndShow<T>(
  session: Session,
  request: AdminRequest,
  show: (resource: T) => void | Promise<void>,
): Promise<void> {
  const { text, body } = await session.admin.call<T>(request);
  if (!session.wantsJson) return await showOrFail(() => show(body));
  // An empty answer becomes an empty object, so that a program can parse it.
  process.stdout.write(`${text.trimEnd() || "{}"}\n`);
}

/** The same for a list: every page of it, or `limit` items that `keeps` accepts. */
export async function listAndShow<T>(
  session: Session,
  request: AdminRequest,
  limit: number | undefined,
  show: (list: PageOf<T>) => void | Promise<void>,
  keeps?: (item: T) => boolean,
): Promise<void> {
  const list = await session.admin.list<T>(request, limit, keeps);
  if (session.wantsJson) {
    process.stdout.write(`${JSON.stringify(list)}\n`);
    return;
  }
  await showOrFail(() => show(list));
  if (list.next !== null) session.printer.printLine("There are more: --limit shows them.", "dim");
}

/** Bodies are not checked, so an answer of another version of Gatehouse can cause a TypeError. */
export function showOrFail(show: () => void | Promise<void>): void | Promise<void> {
  try {
    return show()?.catch(failOnOtherShape);
  } catch (error) {
    failOnOtherShape(error);
  }
}

function failOnOtherShape(error: unknown): never {
  if (!(error instanceof TypeError)) throw error;
  throw new CommandFailed(
    "this version of the command line does not understand the answer: --json prints it unchanged",
  );
}

/** Reads the secret from a prompt or standard input, because other users of the machine could read an argument. */
export async function obtainSecret(session: Session, name: string): Promise<string> {
  if (session.canAsk) return await askSecret(`${name} (hidden)`);
  const secret = process.stdin.isTTY ? "" : readInputLine();
  if (secret === "") failUsage(`no ${name.toLowerCase()}: write it to standard input, in a line of its own`);
  return secret;
}

/** Asks before a change that cannot be undone, and throws when it is not confirmed. */
export async function confirmOrFail(
  session: Session,
  isConfirmed: boolean | undefined,
  makeQuestion: () => Promise<string>,
): Promise<void> {
  if (isConfirmed) return;
  if (!session.canAsk) failUsage("this cannot be undone: add --yes to go on without being asked");
  if (!(await askYes(await makeQuestion()))) throw new CommandFailed("nothing was changed");
}

export function parseLimit(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError("It must be a whole number, 1 or more.");
  return Number(text);
}
