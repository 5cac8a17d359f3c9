// gatehouse roles: shows and changes what people with a role may do.
import type { Command } from "commander";
import { ABILITIES, HIDEABLE_FIELDS } from "../../core/keys/rights.ts";
import { SECTIONS } from "../../core/sections.ts";
import type { NewRole, RoleResource } from "../../core/wire/people.ts";
import { adminCommand, adminGroup, type Session, type SessionOptions, withYes } from "../connection/session.ts";
import { CommandFailed, EXIT_CODES } from "../exit-codes.ts";
import { listFields, listOr, printResources, type ResourceField } from "../terminal/fields.ts";
import { escapeUnsafe } from "../terminal/safe-text.ts";
import { requestFor } from "./find-resource.ts";
import { matchNames, parseList, parseSectionList } from "./key-fields.ts";
import { checkGiven, type Settings, toFields } from "./settings.ts";

const ROLES = { noun: "role", path: "roles" };

export const ROLE_FIELDS: readonly ResourceField<RoleResource>[] = [
  { name: "role", show: ({ name }) => name, isWhole: true },
  { name: "title", show: ({ title }) => title },
  {
    name: "sections",
    show: ({ sections }) => (sections.length === SECTIONS.length ? "all" : listOr(sections, "none")),
  },
  { name: "hidden", show: ({ hide }) => listOr(hide, "nothing") },
  { name: "commands", show: ({ commands }) => (commands.includes("*") ? "all" : listOr(commands, "none")) },
  { name: "may", show: ({ may }) => (may.length === ABILITIES.length ? "all" : listOr(may, "nothing else")) },
];

const EXAMPLES = `
What a role may do besides (--may): ${ABILITIES.join(", ")}.

Examples:
  gatehouse roles set events --title "Event team" --sections Players,Queue --commands ":h,:m" --hide JoinKey
  gatehouse roles set trial --may claim,notes,exports`;

export function createRolesCommand(): Command {
  return adminGroup("roles", "show and change what people with a role may do", [
    adminCommand("list", "list the roles", listRoles),
    adminCommand("show", "show what one role may do", showRole).argument("<role>", "name of the role"),
    adminCommand("set", "change a role, or make one", setRole, checkChange)
      .argument("<role>", "name of the role, in small letters")
      .option("--title <text>", "what people see")
      .option("--sections <list>", "sections they may read: Players,Staff,…, all or none")
      .option("--hide <list>", "what they do not get: JoinKey,Location, or none")
      .option("--commands <list>", 'commands they may send: h,m (or ":h,:m"), "*" for all, or none')
      .option("--may <list>", "what they may do besides: claim,notes,…, all or none")
      .addHelpText(
        "after",
        `\nIt changes for everybody who has the role, at once. What is left out stays.\n${EXAMPLES}`,
      ),
    withYes(adminCommand("remove", "remove a role that nobody has", removeRole)).argument("<role>", "name of the role"),
  ]);
}

async function listRoles(session: Session): Promise<void> {
  await session.call<{ readonly items: readonly RoleResource[] }>({ path: ["roles"] }, ({ items }) =>
    printResources(session, ROLE_FIELDS, items),
  );
}

async function showRole(session: Session, _: SessionOptions, name: string): Promise<void> {
  const role = await findRole(session, name);
  if (!role) {
    const message = `there is no role ${escapeUnsafe(name)}: gatehouse roles list shows them`;
    throw new CommandFailed(message, EXIT_CODES.notFound);
  }
  if (session.wantsJson) process.stdout.write(`${JSON.stringify(role)}\n`);
  else session.printer.printFields(listFields(ROLE_FIELDS, role, session.now()));
}

async function findRole(session: Session, name: string): Promise<RoleResource | undefined> {
  const { body } = await session.admin.call<{ readonly items: readonly RoleResource[] }>({ path: ["roles"] });
  return body.items.find((role) => role.name === name);
}

const SETTINGS: Settings<NewRole> = {
  title: ["title"],
  sections: ["sections", parseSectionList],
  hide: ["hide", (text) => matchNames(HIDEABLE_FIELDS, parseList("--hide", text))],
  commands: ["commands", (text) => parseList("--commands", text)],
  may: ["may", (text) => (text === "all" ? ABILITIES : matchNames(ABILITIES, parseList("--may", text)))],
};

export function toRoleFields(options: object) {
  return toFields(SETTINGS, options);
}

function checkChange(options: SessionOptions): void {
  toRoleFields(options);
  checkGiven(SETTINGS, options, "roles set");
}

async function setRole(session: Session, options: SessionOptions, name: string): Promise<void> {
  const known = await findRole(session, name);
  const { name: _, ...before } = known ?? {
    name,
    title: name,
    sections: [...SECTIONS],
    hide: [],
    commands: [],
    may: [],
  };
  const body = { ...before, ...toRoleFields(options) };
  await session.call<RoleResource>({ ...requestFor(ROLES, name), method: "PUT", body }, (role) =>
    session.printer.printFields(listFields(ROLE_FIELDS, role, session.now())),
  );
}

async function removeRole(session: Session, { yes }: SessionOptions, name: string): Promise<void> {
  await session.confirm(yes, () => `Remove the role ${name}?`);
  await session.call({ ...requestFor(ROLES, name), method: "DELETE" }, () =>
    session.printer.printLine(`the role ${name} is removed`),
  );
}
