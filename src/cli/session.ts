// One run of a command that talks to a Gatehouse: its common options, the admin API, the page to print on, and whether
// there is somebody to ask.
import { type Command, InvalidArgumentError } from "commander";
import { readEnvironment } from "../config.ts";
import type { PageOf } from "../core/wire/page.ts";
import { findAdminAddress } from "./admin-address.ts";
import { type AdminClient, createAdminClient, type Question } from "./admin-client.ts";
import { askSecret, askYes } from "./ask.ts";
import { CommandFailed, EXIT_CODES, EXIT_CODES_HELP, failUsage } from "./exit-codes.ts";
import { readInputLine } from "./input-lines.ts";
import { checkMasterKey, findMasterKey, type MasterKey } from "./master-key.ts";
import { openStandardPage, type Page } from "./page.ts";

/** Rows of a table that grows for ever, newest first, when nobody says how many. */
export const ROWS_UNLESS_ASKED = 50;

export type SessionOptions = {
  readonly url?: string;
  readonly masterKeyFile?: string;
  readonly caFile?: string;
  readonly dataDir?: string;
  readonly json?: boolean;
};

export type Session = {
  readonly admin: AdminClient;
  readonly page: Page;
  readonly wantsJson: boolean;
  /** A person is there, and wants no JSON. */
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
    .addHelpText("after", EXIT_CODES_HELP);
}

export async function openSession(options: SessionOptions): Promise<Session> {
  // Whoever reads our output may have had enough of it: `| head`.
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
  return {
    admin: createAdminClient(address, masterKey),
    page: openStandardPage(environment),
    wantsJson,
    canAsk,
    now: Date.now,
  };
}

/** Asks for one resource, prints the answer as it came with --json, and hands it to `show` otherwise. */
export async function askAndShow<T>(
  session: Session,
  question: Question,
  show: (resource: T) => void | Promise<void>,
): Promise<void> {
  const { text, body } = await session.admin.ask<T>(question);
  if (!session.wantsJson) return await showOrFail(() => show(body));
  // Done, and nothing to tell: still something that a program can parse.
  process.stdout.write(`${text.trimEnd() || "{}"}\n`);
}

/** The same for a list: every page of it, or as many items as were asked for. */
export async function listAndShow<T>(
  session: Session,
  question: Question,
  limit: number | undefined,
  show: (listing: PageOf<T>) => void | Promise<void>,
): Promise<void> {
  const listing = await session.admin.list<T>(question, limit);
  if (session.wantsJson) {
    process.stdout.write(`${JSON.stringify(listing)}\n`);
    return;
  }
  await showOrFail(() => show(listing));
  if (listing.next !== null) session.page.printLine("There are more: --limit shows them.", "dim");
}

/** Nobody has checked the answer's shape, and another version of Gatehouse may have sent it: what cannot be shown can be had. */
async function showOrFail(show: () => void | Promise<void>): Promise<void> {
  try {
    await show();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new CommandFailed(
      "the answer is not as this version of the command line expects it: --json prints it as it came",
    );
  }
}

/** A secret never comes from an argument, where every user of the machine could read it. */
export async function obtainSecret(session: Session, name: string): Promise<string> {
  if (session.canAsk) return await askSecret(`${name} (hidden)`);
  const secret = process.stdin.isTTY ? "" : readInputLine();
  if (secret === "") failUsage(`no ${name.toLowerCase()}: write it to standard input, in a line of its own`);
  return secret;
}

/** Before anything that cannot be undone. Returns when it may go on. */
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
