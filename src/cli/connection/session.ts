// Shared by all commands that call the admin API: their declaration, their options, and the session that they work in.
import { Command, InvalidArgumentError } from "commander";
import { DATA_DIR_DEFAULT, readEnvironment } from "../../instance/config.ts";
import { CommandFailed, EXIT_CODES_HELP, failUsage } from "../exit-codes.ts";
import { openStandardPrinter, type Printer } from "../terminal/printer.ts";
import { askSecret, askText, askYes, readInputLine } from "../terminal/prompts.ts";
import { escapeUnsafe } from "../terminal/safe-text.ts";
import { findAdminAddress, findSetting } from "./admin-address.ts";
import { AdminClient, type AdminRequest } from "./admin-client.ts";
import { checkMasterKey, findMasterKey, type MasterKey } from "./master-key.ts";
import { proveAddress } from "./prove-address.ts";

/** Rows of a table without --limit, for lists that grow for ever. */
export const ROWS_DEFAULT = 50;

const UNCHANGED = "nothing was changed";

export type SessionOptions = {
  readonly url?: string;
  readonly masterKeyFile?: string;
  readonly caFile?: string;
  readonly dataDir?: string;
  readonly allowHttp?: boolean;
  readonly json?: boolean;
  /** Of the commands that have them. */
  readonly server?: string;
  readonly limit?: number;
  readonly ids?: boolean;
  readonly yes?: boolean;
};

export function addSessionOptions(command: Command): Command {
  return command
    .option("--json", "print what the admin API answers, for programs")
    .optionsGroup("Connection:")
    .option(
      "--url <address>",
      "where Gatehouse is (GATEHOUSE_URL, else the local settings, else what runs on the data folder)",
    )
    .option(
      "--master-key-file <file>",
      "file with the master key, - for standard input (GATEHOUSE_MASTER_KEY, else master.key in the data folder)",
    )
    .option("--ca-file <file>", "certificate to trust as well, in PEM form")
    .option("--data-dir <folder>", "data folder of the local Gatehouse (GATEHOUSE_DATA_DIR, default ./data)")
    .option("--allow-http", "send the master key without TLS to an address that cannot be checked")
    .addHelpText("after", EXIT_CODES_HELP);
}

/**
 * A command that calls the admin API. `act` gets an open session, the options and the first argument; `check` refuses
 * wrong usage before the session is opened.
 */
export function adminCommand<Options extends SessionOptions, Argument extends string | undefined = string | undefined>(
  name: string,
  description: string,
  act: (session: Session, options: Options, argument: Argument) => void | Promise<void>,
  check: (options: Options, argument: Argument) => unknown = () => {},
): Command {
  const command = new Command(name).description(description);
  return command.action(async () => {
    const [options, argument] = [command.opts<Options>(), command.processedArgs[0] as Argument];
    check(options, argument);
    await act(await Session.open(options), options, argument);
  });
}

/** A command whose subcommands call the admin API. `fallback` names the one that runs when none is given. */
export function adminGroup(
  name: string,
  description: string,
  commands: readonly Command[],
  fallback?: string,
): Command {
  const group = new Command(name).description(description);
  for (const command of commands)
    group.addCommand(addSessionOptions(command), { isDefault: command.name() === fallback });
  return group;
}

export class Session {
  readonly now = Date.now;

  static async open(options: SessionOptions): Promise<Session> {
    const environment = readEnvironment(process.cwd(), { GATEHOUSE_DATA_DIR: options.dataDir });
    const wantsJson = options.json === true;
    const canAsk = Boolean(process.stdin.isTTY && process.stdout.isTTY) && !wantsJson;
    const dataDir = findSetting(environment, "GATEHOUSE_DATA_DIR") ?? DATA_DIR_DEFAULT;
    const { findListening } = await import("../../instance/listening-lock.ts");
    const address = findAdminAddress(options, environment, () => findListening(dataDir));
    const masterKey: MasterKey =
      options.masterKeyFile === "-" && canAsk
        ? checkMasterKey(await askSecret("Master key"), "you typed")
        : findMasterKey(options.masterKeyFile, environment);
    const proven = await proveAddress(address, { dataDir, allowsHttp: options.allowHttp === true });
    return new Session(new AdminClient(proven, masterKey), openStandardPrinter(environment), wantsJson, canAsk);
  }

  private constructor(
    readonly admin: AdminClient,
    readonly printer: Printer,
    readonly wantsJson: boolean,
    /** Whether the program runs in a terminal, without --json. */
    readonly canAsk: boolean,
  ) {}

  /** Sends a request. With --json it prints the body of the answer unchanged, otherwise `show` prints the resource. */
  async call<T>(request: AdminRequest, show: (resource: T) => void | Promise<void>): Promise<void> {
    const { text, body } = await this.admin.call<T>(request);
    if (!this.wantsJson) return await showOrFail(() => show(body));
    // An empty answer becomes an empty object, so that a program can parse it.
    process.stdout.write(`${text.trimEnd() || "{}"}\n`);
  }

  /** The same for a list: every page of it, or `limit` items that `keeps` accepts. If empty, it prints `none`. */
  async list<T>(
    request: AdminRequest,
    limit: number | undefined,
    none: string | undefined,
    show: (items: readonly T[]) => void | Promise<void>,
    keeps?: (item: T) => boolean,
  ): Promise<void> {
    const list = await this.admin.list<T>(request, limit, keeps);
    if (this.wantsJson) {
      process.stdout.write(`${JSON.stringify(list)}\n`);
      return;
    }
    if (list.items.length === 0 && none !== undefined) this.printer.printLine(none);
    else await showOrFail(() => show(list.items));
    if (list.next !== null) this.printer.printLine("There are more: --limit shows them.", "dim");
  }

  /** The rows of a list that grows for ever: without --limit a table has 50 of them, and --json all. */
  rowsOf({ limit }: SessionOptions): number | undefined {
    return limit ?? (this.wantsJson ? undefined : ROWS_DEFAULT);
  }

  /** Reads the secret from a prompt or standard input, because other users of the machine could read an argument. */
  async obtainSecret(name: string): Promise<string> {
    if (this.canAsk) return await askSecret(`${name} (hidden)`);
    const secret = process.stdin.isTTY ? "" : readInputLine();
    if (secret === "") failUsage(`no ${name.toLowerCase()}: write it to standard input, in a line of its own`);
    return secret;
  }

  /** Asks before a change that cannot be undone, and throws when it is not confirmed. */
  async confirm(isConfirmed: boolean | undefined, makeQuestion: () => string | Promise<string>): Promise<void> {
    if (this.#mustAsk(isConfirmed) && !(await askYes(await makeQuestion()))) throw new CommandFailed(UNCHANGED);
  }

  /** The same before a change that takes much with it: it prints what, and its name must be typed. */
  async confirmByName(isConfirmed: boolean | undefined, warn: () => Promise<string>): Promise<void> {
    if (!this.#mustAsk(isConfirmed)) return;
    const name = (await warn()).trim();
    if ((await askText(`Type its name to go on: ${escapeUnsafe(name)}`)) !== name) {
      throw new CommandFailed(`that is not its name: ${UNCHANGED}`);
    }
  }

  #mustAsk(isConfirmed: boolean | undefined): boolean {
    if (isConfirmed) return false;
    if (!this.canAsk) failUsage("this cannot be undone: add --yes to go on without being asked");
    return true;
  }
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

/** Adds --yes, for commands that ask before a change that cannot be undone. */
export function withYes(command: Command): Command {
  return command.option("--yes", "do not ask for confirmation");
}

/** Adds --limit. `whole` names the options with which a list that grows for ever is not cut. */
export function withLimit(command: Command, whole?: string): Command {
  const note = whole === undefined ? "" : ` (tables: ${ROWS_DEFAULT}, ${whole}: all)`;
  return command.option("--limit <number>", `show at most this many${note}`, parseLimit);
}

export function parseLimit(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError("It must be a whole number, 1 or more.");
  return Number(text);
}
