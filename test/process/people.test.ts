// People, roles and the audit log on the command line, with the real `gatehouse serve`.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Listening, runToEnd, serve } from "../run-gatehouse.ts";
import { cleanUp, makeFolder } from "../temporary.ts";

let folder: string;
let gatehouse: Listening;

beforeEach(async () => {
  folder = makeFolder();
  gatehouse = await serve({ cwd: folder, env: { GATEHOUSE_WATCH: "off" } });
});
afterEach(cleanUp);

const operate = (...args: string[]) => runToEnd(args, { cwd: folder, env: { GATEHOUSE_PORT: String(gatehouse.port) } });

async function done(...args: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await operate(...args);
  expect({ args, exitCode, stderr }).toEqual({ args, exitCode: 0, stderr: "" });
  return stdout;
}

const doneJson = async (...args: string[]) => JSON.parse(await done(...args, "--json"));

test("a person is added with a role, invited, changed, shown, signed out and removed", async () => {
  const added = await done("people", "add", "Robin", "--role", "Demo=moderator", "--invite");
  expect(added).toMatch(/roles +Demo: moderator/);
  expect(added).toContain("#/invitation/gti_");
  expect(added).toContain("GATEHOUSE_PUBLIC_URL");
  // The demo has one server, which need not be named; the case of a person's name makes no difference.
  const changed = await doneJson("people", "set", "robin", "--role", "trial", "--chat-id", "80351110224678912");
  expect(changed).toMatchObject({ name: "Robin", chat_id: "80351110224678912", servers: [{ role: "trial" }] });
  expect(await doneJson("people", "set", "Robin", "--role", "Demo=none", "--chat-id", "none")).toMatchObject({
    servers: [],
    chat_id: null,
  });
  await done("people", "add", "Ann", "--operator", "yes");
  expect(await done("people", "list")).toMatch(/Ann +operator: everything +never signed in +never/);
  expect((await doneJson("people", "list", "--name", "ro")).items).toHaveLength(1);
  expect(await done("people", "sessions", "Robin")).toBe("not signed in anywhere\n");
  expect(await done("people", "passkeys", "Robin")).toBe("no passkeys\n");
  expect(await done("people", "end-sessions", "Robin", "--yes")).toContain("is signed out everywhere");
  expect(await done("people", "remove-passkeys", "Robin", "--yes")).toContain("has no passkeys");
  expect(await doneJson("people", "set", "Robin", "--disabled", "yes")).toMatchObject({ disabled: true });
  expect(await done("people", "remove", "Robin", "--yes")).toContain("is removed");
});

test("a role is made, changed and removed; one of the five stays", async () => {
  const made = await doneJson("roles", "set", "events", "--title", "Event team", "--hide", "joinkey", "--may", "claim");
  expect(made).toMatchObject({ name: "events", title: "Event team", hide: ["JoinKey"], may: ["claim"], commands: [] });
  const changed = await doneJson("roles", "set", "events", "--commands", ":h");
  expect(changed).toMatchObject({ title: "Event team", hide: ["JoinKey"], commands: [":h"] });
  expect(await done("roles", "list")).toMatch(/^ROLE[\s\S]*viewer[\s\S]*events/);
  expect(await doneJson("roles", "show", "events")).toEqual(changed);
  expect(await done("roles", "remove", "events", "--yes")).toBe("the role events is removed\n");
  expect((await operate("roles", "remove", "viewer", "--yes")).exitCode).toBe(2);
});

test("the audit log is searched, and exported to a new file that others cannot read", async () => {
  await done("people", "add", "Robin");
  await done("keys", "create", "--server", "Demo", "--label", "status page");
  const found = await doneJson("audit", "--action", "key.created", "--query", "STATUS page", "--from", "1d");
  expect(found.items).toMatchObject([{ action: "key.created", actor: { kind: "master" } }]);
  expect(await done("audit", "--actor", "nobody")).toBe("no such changes\n");
  expect(await done("audit", "--actor", "master")).toMatch(/person\.created +Robin/);
  const lines = (await done("audit", "--export", "jsonl", "--actor", "master")).trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line).action)).toContain("key.created");
  const file = join(folder, "audit.csv");
  expect(await done("audit", "--export", "csv", "--output", file)).toBe(`written to ${file}\n`);
  expect(readFileSync(file, "utf8")).toMatch(/^"?id"?,[\s\S]*key\.created/);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const again = await operate("audit", "--export", "csv", "--output", file);
  expect([again.exitCode, again.stderr]).toEqual([1, expect.stringContaining("it exists already")]);
  const refused = await operate("audit", "--export", "csv", "--from", "1d", "--to", "2d", "--output", `${file}.x`);
  expect([refused.exitCode, existsSync(`${file}.x`)]).toEqual([2, false]);
});

const MISTAKES = [
  [["people", "add"], 2, "people add <name>"],
  [["people", "add", "Robin", "--role", "Nowhere=trial"], 3, "Nowhere"],
  [["people", "add", "Robin", "--role", "Demo=nothing-like-it"], 2, "role"],
  [["people", "add", "Robin", "--role", "Demo="], 2, "North Town=moderator"],
  [["people", "add", "Robin", "--chat-id", "robin#1"], 2, "chat_id"],
  [["people", "show", "Nobody"], 3, "gatehouse people list"],
  [["people", "set", "per_x"], 2, "nothing to change"],
  [["people", "remove", "per_x"], 2, "--yes"],
  [["people", "invite", "per_nope"], 3, "per_nope"],
  [["roles", "show", "nope"], 3, "gatehouse roles list"],
  [["roles", "set", "viewer"], 2, "nothing to change"],
  [["roles", "set", "viewer", "--may", "fly"], 2, "may"],
  [["audit", "--output", "x"], 2, "--export"],
  [["audit", "--export", "xml"], 2, "jsonl"],
  [["audit", "--from", "soon"], 2, "--from"],
] as const;

test("a mistake has its exit code, and words that say what to do", async () => {
  for (const [args, exitCode, words] of MISTAKES) {
    const ended = await operate(...args);
    const said = ended.stderr.includes(words) ? words : ended.stderr;
    expect({ args, exitCode: ended.exitCode, said }).toEqual({ args, exitCode, said: words });
  }
});
