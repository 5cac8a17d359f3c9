// People for tests: added by the operator, invited, and signed in as a browser does it.
import { expect } from "bun:test";
import { PageBrowser } from "../people.ts";
import type { TestGatehouse } from "../start-gatehouse.ts";

export type RoleDraft = {
  readonly sections?: readonly string[];
  readonly hide?: readonly string[];
  readonly commands?: readonly string[];
  readonly may?: readonly string[];
};

export type PersonDraft = {
  readonly name: string;
  readonly is_operator?: boolean;
  readonly servers?: readonly { readonly server_id: string; readonly role: string }[];
  readonly player_id?: string | null;
  readonly chat_id?: string | null;
};

/** `code` is that of an error, 0 for none. */
export type Outcome = { readonly status: number; readonly code: number; readonly body: unknown };

export type SignedInPerson = {
  readonly personId: string;
  readonly browser: PageBrowser;
  /** Undefined when the person may do nothing in the admin API. */
  readonly adminToken: string | undefined;
  /** Sends a request to the admin API. */
  send(method: string, path: string, body?: unknown): Promise<Outcome>;
};

export async function putRole(gatehouse: TestGatehouse, name: string, role: RoleDraft): Promise<void> {
  const whole = { title: name, sections: [], hide: [], commands: [], may: [], ...role };
  expect((await gatehouse.admin("PUT", `/admin/roles/${name}`, whole)).status).toBe(200);
}

export async function addPerson(gatehouse: TestGatehouse, draft: PersonDraft): Promise<string> {
  const added = await gatehouse.admin("POST", "/admin/people", draft);
  const body = (await added.json()) as { person_id: string };
  expect([added.status, body]).toEqual([201, body]);
  return body.person_id;
}

export async function signIn(gatehouse: TestGatehouse, personId: string): Promise<SignedInPerson> {
  const invited = await gatehouse.admin("POST", `/admin/people/${personId}/invitations`);
  const { url } = (await invited.json()) as { url: string };
  const browser = new PageBrowser(gatehouse.url);
  expect((await browser.redeem(url.split("/").at(-1) ?? "", true)).ok).toBe(true);
  const adminToken = await findToken(browser);
  return {
    personId,
    browser,
    adminToken,
    send: (method, path, body) => sendAs(gatehouse, adminToken, method, path, body),
  };
}

export async function addSignedIn(gatehouse: TestGatehouse, draft: PersonDraft): Promise<SignedInPerson> {
  return signIn(gatehouse, await addPerson(gatehouse, draft));
}

/** A token for a server, or for the admin API. Undefined when there is none for this person. */
export async function findToken(browser: PageBrowser, serverId?: string): Promise<string | undefined> {
  const answer = await browser.grant(serverId);
  return answer.ok ? ((await answer.json()) as { token: string }).token : undefined;
}

export async function sendAs(
  gatehouse: TestGatehouse,
  token: string | undefined,
  method: string,
  path: string,
  body?: unknown,
): Promise<Outcome> {
  const answer = await gatehouse.admin(method, path, body, { Authorization: `Bearer ${token}` });
  const text = await answer.text();
  const isJson = answer.headers.get("content-type") === "application/json";
  const parsed: unknown = isJson && text !== "" ? JSON.parse(text) : text;
  const code = answer.status < 400 ? 0 : ((parsed as { code?: number }).code ?? 0);
  return { status: answer.status, code, body: parsed };
}
