// A gateway on which every documented answer can be provoked: a successful request for each operation, and the steps that
// cause each error.

import { randomBytes } from "node:crypto";
import { SUGGESTED_ALERTS } from "../../src/core/alerts/rules.ts";
import { MINUTE_MS } from "../../src/core/durations.ts";
import { StoreUnavailable } from "../../src/core/errors.ts";
import { writeCursor } from "../../src/core/events/cursor.ts";
import { toAbilitySet } from "../../src/core/keys/rights.ts";
import { hashToken, mintSessionSecret, mintToken } from "../../src/core/keys/token.ts";
import { IMAGE_BYTES_MAX, type MapImage } from "../../src/core/maps/map-image.ts";
import type { Actor } from "../../src/core/ports/audit.ts";
import type { KeyChange } from "../../src/core/ports/keys.ts";
import type { SessionDraft } from "../../src/core/ports/people.ts";
import { OPERATOR_STREAMS_MAX, STREAMS_PER_KEY_MAX } from "../../src/gateway/events/stream-slots.ts";
import { act, addHistory, minute, session } from "../archive/history-samples.ts";
import { HeldPauses, MemoryArchive, makeEvent } from "../event-archive.ts";
import { ALL_SECTIONS_INFO, BASE_INFO } from "../fake-game-api.ts";
import { CLIENT, FakeOauth } from "../fake-oauth.ts";
import { addPerson, invite, SoftwarePasskey, signIn } from "../people.ts";
import { openSocket, type RawSocket, writeRequest } from "../raw-socket.ts";
import { HookSigner, makeCommand } from "../signed-hooks.ts";
import { startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";
import { refuses, startCommandGateway } from "./commander.ts";
import type { DocumentedError, DocumentedOperation } from "./openapi-witness.ts";

export type Plan = {
  readonly token?: string | undefined;
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: string;
  /** A string and bytes are sent unchanged, anything else as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};

type Provoke = (operation: DocumentedOperation) => Promise<Response>;

const WRONG_IDS = {
  command_id: "cmd_none",
  server_id: "srv_none",
  key_id: "key_none",
  entry_id: "aud_none",
  player_id: "nobody",
  note_id: "note_none",
  call_id: "none",
  session_id: "ses_none",
  passkey_id: "psk_none",
  webhook_id: "hook_none",
  person_id: "per_none",
  role: "none",
  slug: "none",
};
/** Where people open the dashboard. */
const PAGE = "https://gatehouse.example.org";
const ON_PAGE = { Origin: PAGE, Host: "gatehouse.example.org" };
const SOCKET_HEADERS = [
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
];
/** The beginning of a picture of 64 times 32 pixels. */
export const PNG_HEADER = Buffer.from("89504e470d0a1a0a0000000d494844520000004000000020080200000000000000", "hex");
const CORNERS = "left=-10&top=-10&right=10&bottom=10";
const WAIT_MS = 25_000;
const MAP_IMAGE: MapImage = {
  type: "image/png",
  width: 64,
  height: 32,
  left: -10,
  top: -10,
  right: 10,
  bottom: 10,
  hash: "00ff",
  bytes: PNG_HEADER.length,
  setAt: 1_800_000_000_000,
  content: new Uint8Array(PNG_HEADER),
};
const NOTE_ID = "note_4tGk8sYc2RzNqT5vBw1x";
const CALL_ID = "q3Vd0n8aTfGk2LrWx5YzBg";
const EVENT_WITH_META = makeEvent(2, {
  type: "command.used",
  data: '{"Player":"A:1","Timestamp":1800000000,"Command":":kick Bob"}',
  meta: '{"targets":["Bob:2"]}',
});

export async function openStage() {
  const archive = new MemoryArchive();
  const pauses = new HeldPauses();
  const signer = new HookSigner();
  const platform = new FakeOauth();
  const env = {
    GATEHOUSE_GAME_PUBLIC_KEY: signer.publicKey,
    GATEHOUSE_WEBHOOKS_PRIVATE: "allow",
    GATEHOUSE_PUBLIC_URL: PAGE,
    GATEHOUSE_DISCORD_CLIENT_ID: CLIENT.id,
    GATEHOUSE_DISCORD_CLIENT_SECRET: CLIENT.secret,
    GATEHOUSE_DISCORD_URL: platform.url,
  };
  const gateway = await startCommandGateway({ archive, waitForEvents: pauses.pause, env });
  const { gatehouse, game, clock } = gateway;
  const { store } = gatehouse.app;
  const { masterKey } = gatehouse;
  const sockets: RawSocket[] = [];
  const streams: (() => Promise<void>)[] = [];
  let made = 0;
  /** Without an archive; started when it is first needed. */
  let bare: Promise<TestGatehouse> | undefined;

  async function makeHome() {
    const number = ++made;
    const server = await gatehouse.addServer({
      name: `Town ${number}`,
      community: "cedar",
      serverKey: `town-Server${number}`,
    });
    const key = await gatehouse.addKey(server, { commands: ["*"], may: toAbilitySet(["webhooks"]) });
    const params = { community: "cedar", server_id: server.serverId, key_id: key.keyId };
    return { ...key, server, params };
  }

  type Home = Awaited<ReturnType<typeof makeHome>>;

  /** A waiting command that no worker was notified of. */
  async function addCommand({ server, keyId }: Home, text = ":h hello") {
    const draft = { serverId: server.serverId, keyId, text, idempotencyKey: undefined };
    const acceptance = await store.commands.accept(draft, clock.now);
    return "receipt" in acceptance ? acceptance.receipt.commandId : undefined;
  }

  async function addAuditEntry({ server }: Home): Promise<string> {
    const actor: Actor = { kind: "master", id: "00000000", name: "master key", address: "127.0.0.1" };
    const note = { at: clock.now, action: "server.changed", actor, details: {} };
    await store.servers.update(server.serverId, { name: server.name }, note);
    const { items } = await store.audit.list({ limit: 1 });
    return items[0]?.id ?? "";
  }

  /** What each operation needs to succeed, by its id. */
  const bodies: Readonly<Record<string, (home: Home) => unknown>> = {
    submitCommand: () => ({ command: ":h hello" }),
    createServer: () => ({ name: `New town ${++made}`, server_key: "new-Server" }),
    changeServer: () => ({ name: `Other town ${++made}` }),
    createKey: ({ server }) => ({ server_id: server.serverId, label: "bot" }),
    changeKey: () => ({ label: "other" }),
    rotateKey: () => ({ grace_seconds: 60 }),
    receiveGameWebhook: ({ server }) => ({
      server: server.name.replace("Town ", "Server"),
      events: [makeCommand(clock.now)],
    }),
    setServerMapImage: () => PNG_HEADER,
    setAlertRules: () => SUGGESTED_ALERTS,
    createWebhook: ({ server }) => newWebhook(server.serverId),
    changeWebhook: () => ({ label: "other" }),
    redeliver: () => ({ after: "now" }),
    addNote: () => ({ text: "A note", kind: "note" }),
    claimModCall: () => ({ take: false }),
    createPerson: ({ server }) => ({
      name: `New person ${++made}`,
      servers: [{ server_id: server.serverId, role: "viewer" }],
    }),
    changePerson: () => ({ player_id: "54" }),
    putRole: () => ({ title: "Other", sections: [], hide: [], commands: [], may: [] }),
  };

  /** Nobody has it. */
  const ROLE = { name: "planned", title: "Planned", sections: 0, hide: 0, commands: [], may: 0 };

  /** Somebody with a passkey who is signed in, and a role. */
  async function planPerson({ server }: Home): Promise<Record<string, string>> {
    await store.roles.put(ROLE);
    const person = await addPerson(gatehouse, { servers: [{ serverId: server.serverId, role: "viewer" }] });
    const { personId: person_id } = person;
    const { sessionId: session_id } = await openSession(person_id);
    const [passkey_id = ""] = await addPasskeys(person_id, 1);
    return { person_id, session_id, passkey_id, role: ROLE.name };
  }

  /** A token for the admin API of a person who has only this role now. */
  async function makeAdminToken(serverId: string, role: string): Promise<string> {
    const { personId } = await addPerson(gatehouse, { isOperator: true });
    const { headers } = await openSession(personId);
    const { token } = (await postAs(headers, "/session", {})) as { token: string };
    await store.people.update(personId, { isOperator: false, servers: [{ serverId, role }] });
    return token;
  }

  async function openSession(personId: string) {
    const secret = mintSessionSecret(randomBytes);
    const session = { sessionId: `ses_${++made}`.padEnd(24, "x"), secretHash: hashToken(secret) };
    const draft = {
      ...session,
      isRemembered: true,
      chatId: null,
      expiresAt: clock.now + 86_400_000,
      description: "Firefox, Linux",
    };
    await store.sessions.add(personId, draft, clock.now);
    return {
      sessionId: draft.sessionId,
      headers: { ...ON_PAGE, Cookie: `__Secure-gatehouse_session=${secret}` },
    };
  }

  async function postAs(headers: Record<string, string>, path: string, body: object): Promise<unknown> {
    const operation = { id: "", method: "POST", template: path } as DocumentedOperation;
    return (await sendPlain(operation, { headers, body }, gatehouse.url)).json();
  }

  async function addWebhook({ server }: Home, changes: object = {}): Promise<string> {
    const body = { ...newWebhook(server.serverId), ...changes };
    const answer = await gatehouse.admin("POST", "/admin/webhooks", body);
    const { webhook_id } = (await answer.json()) as { webhook_id: string };
    return webhook_id;
  }

  /** A person who is signed in, and has a passkey when `id` needs one. */
  async function planSignedIn({ id, template }: DocumentedOperation, { server }: Home): Promise<Plan> {
    const person = await addPerson(gatehouse, { servers: [{ serverId: server.serverId, role: "manager" }] });
    const { sessionId, headers } = await openSession(person.personId);
    const post = (path: string, body: object = {}) => postAs(headers, path, body);
    const { token } = (await post("/session", { server_id: server.serverId })) as { token: string };
    const passkey = new SoftwarePasskey(PAGE);
    const newPasskey = async () => passkey.create((await post("/session/passkeys/options")) as never);
    const plans: Readonly<Record<string, () => Promise<Plan>>> = {
      grantToken: async () => ({ body: { server_id: server.serverId } }),
      redeemInvitation: async () => ({ body: { secret: await invite(gatehouse, person) } }),
      addPasskey: async () => ({ body: await newPasskey() }),
      removeOwnPasskey: async () => {
        const { passkey_id } = (await post("/session/passkeys", await newPasskey())) as { passkey_id: string };
        return { params: { passkey_id } };
      },
      signInWithPasskey: async () => {
        await post("/session/passkeys", await newPasskey());
        return { body: passkey.use((await post("/session/passkeys/sign-in/options")) as never) };
      },
      finishChatSignIn: async () => {
        const begun = await fetch(`${gatehouse.url}/session/chat`, { redirect: "manual" });
        const [cookie = ""] = begun.headers.getSetCookie();
        const back = platform.agree(begun.headers.get("location") ?? "");
        return { query: new URL(back).search.slice(1), headers: { Cookie: cookie.split(";")[0] ?? "" } };
      },
    };
    // The cookie is enough where it is taken, and is not taken where a token is needed.
    const takesToken = /^\/session\/(?:me|sessions|passkeys)$/.test(template) && !["findMe", "addPasskey"].includes(id);
    return { headers, params: { session_id: sessionId }, ...(takesToken && { token }), ...(await plans[id]?.()) };
  }

  /** The person has as many passkeys as can be. */
  async function fillPasskeys({ headers }: Plan): Promise<void> {
    const secret = headers?.Cookie?.split("=")[1] ?? "";
    const { personId = "" } = (await store.sessions.findBySecret(hashToken(secret), clock.now)) ?? {};
    await addPasskeys(personId, 10);
  }

  async function addPasskeys(personId: string, count: number): Promise<string[]> {
    const ids: string[] = [];
    while (ids.length < count) {
      const id = `${++made}`.padEnd(20, "x");
      const known = { credentialId: id, publicKey: "AA", counter: 0, transports: [], label: "", lastUsedAt: null };
      const passkey = { passkeyId: `psk_${id}`, personId, createdAt: clock.now, ...known };
      await store.passkeys.add(passkey, id, clock.now + 1_000);
      ids.push(passkey.passkeyId);
    }
    return ids;
  }

  /** Somebody else has the name, the person is disabled, there are as many roles as can be, or the role is in use. */
  async function provokeConflict({ server }: Home, good: Plan, { id }: DocumentedOperation): Promise<void> {
    const { person_id = "" } = good.params ?? {};
    const servers = [{ serverId: server.serverId, role: ROLE.name }];
    if (id === "deleteRole") await store.people.update(person_id, { servers });
    if (id === "invitePerson") await store.people.update(person_id, { isDisabled: true });
    if (id === "putRole") {
      for (let number = 0; store.roles.all().length < 20; number++)
        await store.roles.put({ ...ROLE, name: `more-${number}` });
      Object.assign(good.params ?? {}, { role: "one-more" });
    }
    const { name } = await addPerson(gatehouse);
    if (id === "createPerson" || id === "changePerson") Object.assign(good.body as object, { name });
  }

  /** Of the last minutes: a known one, a player with a team, a command and an answered call. */
  function addSomeHistory({ server }: Home): Promise<void> {
    const at = Math.floor(clock.now / MINUTE_MS) * MINUTE_MS - 2 * MINUTE_MS;
    const stays = [{ team: "Police", from: at, to: at + MINUTE_MS }];
    const counts = { queueMax: 1, staffMax: 1, teamMs: { Police: 3 * MINUTE_MS } };
    const history = {
      minutes: [minute(at, 3, counts)],
      sessions: [session("54", at, at + MINUTE_MS, { wasStaff: true, stays })],
      acts: [act("54", at), act("54", at, [1_000, 9_000])],
    };
    return addHistory(archive, history, server.serverId);
  }

  /** A call, a command and a note about the player of that history. */
  async function addDesk({ server, keyId }: Home): Promise<void> {
    const { serverId } = server;
    const data = JSON.stringify({ Caller: "Player54:54", Moderator: null, Timestamp: Math.floor(clock.now / 1_000) });
    const call = {
      type: "modcall.opened",
      at: clock.now,
      data,
      identity: "call",
      players: ["54"],
      call: CALL_ID,
    } as const;
    const command = JSON.stringify({ Player: "Mod:9", Command: ":kick 54", Timestamp: 1 });
    const aimed = {
      type: "command.used",
      data: command,
      meta: '{"targets":["Player54:54"]}',
      targets: ["54"],
    } as const;
    await archive.add(serverId, makeEvent(1, call), makeEvent(2, aimed));
    const by = { kind: "key", id: keyId, name: "test" } as const;
    await archive.addNote(serverId, "54", { noteId: NOTE_ID, text: "A note", kind: "note", by, at: clock.now });
  }

  async function plan({ id, tag, template }: DocumentedOperation): Promise<Plan & { home: Home }> {
    const home = await makeHome();
    const isPublic = ["Server", "Events", "History", "Players", "Commands", "With a community"].includes(tag);
    const command_id = (await addCommand(home)) ?? "";
    const entry_id = await addAuditEntry(home);
    if (isAboutMapImage(id)) await archive.saveMapImage(home.server.serverId, MAP_IMAGE);
    if (isAboutEvents(id)) await archive.add(home.server.serverId, makeEvent(1), EVENT_WITH_META);
    if (/\/history\/|\/players|\/modcalls/.test(template)) await addSomeHistory(home);
    if (/\/server\/(?:players|modcalls)/.test(template)) await addDesk(home);
    const slug = `town-${made}`;
    const publicStatus = { slug, showsJoinKey: false };
    if (tag === "Public status") await store.servers.update(home.server.serverId, { publicStatus });
    // Every plan may ask as often as an address may.
    if (tag === "Public status") clock.advance(MINUTE_MS);
    const webhook_id = tag === "Webhooks" ? await addWebhook(home) : "";
    if (tag === "Signing in")
      return { home, ...(await planSignedIn({ id, tag, template } as DocumentedOperation, home)) };
    const body = bodies[baseOf(id)]?.(home);
    const ofPerson = tag === "People" ? await planPerson(home) : {};
    return {
      home,
      token: isPublic ? home.token : masterKey,
      params: {
        ...home.params,
        command_id,
        entry_id,
        player_id: "54",
        note_id: NOTE_ID,
        call_id: CALL_ID,
        webhook_id,
        slug,
        ...ofPerson,
      },
      ...(id === "setServerMapImage" && { query: CORNERS }),
      ...(baseOf(id) === "readPresent" && { query: `at=${clock.now - 2 * MINUTE_MS}` }),
      ...(body !== undefined && { body }),
    };
  }

  async function send(operation: DocumentedOperation, request: Plan, url = gatehouse.url): Promise<Response> {
    if (baseOf(operation.id) === "openEventSocket") return openSocketAnswer(operation, request, url);
    const answer = await sendPlain(operation, request, url);
    return answer.headers.get("content-type") === "text/event-stream" ? readFirstMessage(answer) : answer;
  }

  function sendPlain({ id, method, template }: DocumentedOperation, request: Plan, url: string): Promise<Response> {
    const path = template.replace(/\{(\w+)\}/g, (_, name) => request.params?.[name] ?? "cedar");
    const { body } = request;
    const sent = isRaw(body) ? body : JSON.stringify(body);
    return fetch(`${url}${path}${request.query ? `?${request.query}` : ""}`, {
      method,
      redirect: "manual",
      headers: {
        ...(request.token !== undefined && { Authorization: `Bearer ${request.token}` }),
        ...(body !== undefined && { "Content-Type": "application/json" }),
        ...(id === "receiveGameWebhook" && signer.sign(String(sent), clock.now)),
        ...request.headers,
      },
      ...(body !== undefined && { body: sent }),
    });
  }

  /** The answer to a request for a WebSocket, before its first frame. */
  async function openSocketAnswer(
    { template }: DocumentedOperation,
    { params, query, token, headers }: Plan,
    url: string,
  ): Promise<Response> {
    const path = template.replace(/\{(\w+)\}/g, (_, name) => params?.[name] ?? "cedar");
    const socket = await openSocket({ port: Number(new URL(url).port) });
    sockets.push(socket);
    const lines = [
      ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
      ...(headers?.Authorization === undefined ? [] : [`Authorization: ${headers.Authorization}`]),
      ...(headers?.Upgrade === "" ? [] : SOCKET_HEADERS),
    ];
    socket.write(writeRequest(`${path}${query ? `?${query}` : ""}`, lines));
    const answer = await socket.readAnswer();
    if (!answer) throw new Error("the socket was closed without an answer");
    const { status, body } = answer;
    const known = [...answer.headers].filter(([name]) => name !== "content-length");
    return new Response(status === 101 ? null : body, { status, headers: Object.fromEntries(known) });
  }

  /** The answer when there are as many streams as there may be. They are closed: operators share theirs. */
  async function fillStreams(operation: DocumentedOperation, good: Plan): Promise<Response> {
    const max = operation.id === "streamServerEvents" ? OPERATOR_STREAMS_MAX : STREAMS_PER_KEY_MAX;
    let answer = await send(operation, good);
    for (let open = 1; open <= max && answer.status < 400; open++) answer = await send(operation, good);
    for (const close of streams.splice(0)) await close();
    return answer;
  }

  async function fillWithStreams(operation: DocumentedOperation, good: Plan): Promise<Response> {
    const stream = { ...operation, id: "streamEvents", template: "/v2/game/server/events/stream" };
    for (let open = 0; open < STREAMS_PER_KEY_MAX; open++) await send(stream, { ...good, query: "" });
    const answer = await send(operation, good);
    for (const close of streams.splice(0)) await close();
    return answer;
  }

  /** The stream is left open: it is one of the key's. */
  async function readFirstMessage(answer: Response): Promise<Response> {
    const reader = answer.body?.getReader();
    streams.push(async () => reader?.cancel());
    const { value } = (await reader?.read()) ?? {};
    return new Response(value as Uint8Array<ArrayBuffer>, { status: answer.status, headers: answer.headers });
  }

  /** A wrong token, cookie, invitation, passkey or state, whichever the request has. */
  function withWrongSecret({ body }: Plan): Plan {
    const isObject = typeof body === "object" && body !== null;
    return {
      token: "gth_wrong",
      headers: { ...ON_PAGE, Cookie: "__Secure-gatehouse_session=gtd_wrong" },
      ...(isObject && "secret" in body && { body: { secret: "gti_wrong" } }),
      ...(isObject && "rawId" in body && { body: { ...body, id: "AAAA", rawId: "AAAA" } }),
    };
  }

  /** The successful request, with these changes. */
  function but(change: (good: Plan) => Plan): Provoke {
    return async (operation) => {
      const good = await plan(operation);
      return send(operation, { ...good, ...change(good) });
    };
  }

  function withKey(change: KeyChange, query = ""): Provoke {
    return async (operation) => {
      const good = await plan(operation);
      await store.keys.update(good.home.keyId, change);
      return send(operation, { ...good, token: good.home.token, query });
    };
  }

  function after(prepare: (home: Home, good: Plan, operation: DocumentedOperation) => unknown): Provoke {
    return async (operation) => {
      const good = await plan(operation);
      await prepare(good.home, good, operation);
      return send(operation, good);
    };
  }

  /** Of the home's key, where others may ask too. */
  function afterRequests(count: number): Provoke {
    return async (operation) => {
      const good = await plan(operation);
      const { keyId, server, token } = good.home;
      const { serverId } = server;
      for (let sent = 0; sent < count; sent++) await store.limits.judge({ keyId, serverId }, clock.now, true);
      return send(operation, { ...good, token });
    };
  }

  const withBrokenStore = (fault: Error): Provoke => {
    return async (operation) => {
      const good = await plan(operation);
      clock.advance(MINUTE_MS);
      const { servers, keys, people, roles, sessions, invitations, passkeys, challenges } = store;
      const { limits, usage, audit, settings, commands } = store;
      const signIns = [people, roles, sessions, invitations, passkeys, challenges];
      const all = [store, servers, keys, ...signIns, limits, usage, audit, settings, commands];
      const mend = all.map((part) => breakAll(part, fault));
      try {
        return await send(operation, good);
      } finally {
        for (const one of mend) one();
      }
    };
  };

  /** Only an operator is told that there is no such server. */
  const askUnknownServer = async (operation: DocumentedOperation) => {
    const good = await plan(operation);
    const secret = good.headers?.Cookie?.split("=")[1] ?? "";
    const session = await store.sessions.findBySecret(hashToken(secret), clock.now);
    const personId = session?.personId ?? "";
    await store.people.update(personId, { isOperator: true });
    // Becoming an operator ends the sessions.
    const draft = { ...session, sessionId: `${session?.sessionId}x`, secretHash: hashToken(secret) } as SessionDraft;
    await store.sessions.add(personId, draft, clock.now);
    return send(operation, { ...good, body: { server_id: "srv_none" } });
  };

  /** For an instance where neither passkeys nor the chat platform work. */
  async function planBare(operation: DocumentedOperation): Promise<Plan> {
    const { body } = await plan(operation);
    bare ??= startGatehouse();
    const other = await bare;
    const browser = await signIn(other, await addPerson(other));
    const Cookie = `gatehouse_session=${browser.cookies.get("gatehouse_session")}`;
    return { headers: { Origin: other.url, Cookie }, ...(body !== undefined && { body }) };
  }

  /** The successful request, by a person with this role on the server of the request, or on another one. */
  function asPerson(role: string, serverId?: string): Provoke {
    return async (operation) => {
      const good = await plan(operation);
      const token = await makeAdminToken(serverId ?? good.home.server.serverId, role);
      return send(operation, { ...good, token });
    };
  }

  const afterParking = after(({ server }) => store.servers.update(server.serverId, { isSimulated: true }));

  const provocations: Readonly<Record<string, Provoke>> = {
    "400 5005": but(() => ({ body: {} })),
    "401 5006": async (operation) => {
      clock.advance(MINUTE_MS);
      return but(() => ({ token: "not-the-master-key" }))(operation);
    },
    "401 5007": (operation) => {
      const headers: Record<string, string> = operation.tag === "Signing in" ? { ...ON_PAGE } : {};
      // Without the header, the token may still come in a frame.
      if (baseOf(operation.id) === "openEventSocket") headers.Authorization = "Basic YTpi";
      return but(() => ({ token: undefined, headers }))(operation);
    },
    "401 5008": async (operation) => {
      clock.advance(MINUTE_MS);
      // Wherever a key may be sent, one that only looks like a key is unknown.
      return but((good) => ({ ...withWrongSecret(good), token: mintToken(randomBytes) }))(operation);
    },
    "403 5009": (operation) => {
      if (operation.template.startsWith("/admin/")) return asPerson("viewer")(operation);
      const isSigningIn = operation.tag === "Signing in";
      return isSigningIn ? but(() => ({ headers: {} }))(operation) : withKey({ isSuspended: true })(operation);
    },
    "403 5010": withKey({ versions: [] }),
    "403 5011": (operation) => {
      const query = isAboutEvents(operation.id) ? "types=player.killed" : "Players=true";
      return withKey({ sections: 0 }, query)(operation);
    },
    "429 5015": after(async (home) => {
      while ((await addCommand(home)) !== undefined);
    }),
    "429 5016": (operation) =>
      operation.tag === "Public status"
        ? after(async (_, good) => {
            for (let sent = 0; sent < 60; sent++) await send(operation, good);
          })(operation)
        : afterRequests(120)(operation),
    "500 5017": withBrokenStore(new Error("broken for a test")),
    "500 5018": but(() => ({})),
    "400 5019": async (operation) => {
      if (baseOf(operation.id) === "submitCommand") return afterParking(operation);
      game.read = refuses(3002);
      return but(() => ({}))(operation).finally(answerReads);
    },
    "404 5020": async (operation) => {
      if (operation.id === "grantToken") return askUnknownServer(operation);
      // An operator's body names what is wrong with it; to others the server does not exist.
      if (["createKey", "createWebhook", "createPerson"].includes(operation.id))
        return asPerson("manager", (await makeHome()).server.serverId)(operation);
      if (baseOf(operation.id) === "readMapImage")
        return after(({ server }) => archive.removeMapImage(server.serverId))(operation);
      return but(() => ({ params: { community: "cedar", ...WRONG_IDS } }))(operation);
    },
    "400 5034": but(() => ({ body: "{" })),
    "429 5100": afterRequests(520),
    "413 5102": (operation) => {
      const size = operation.id === "setServerMapImage" ? IMAGE_BYTES_MAX + 1 : 70_000;
      return but(() => ({ body: "x".repeat(size) }))(operation);
    },
    "415 5103": but(({ headers }) => ({ body: "{}", headers: { ...headers, "Content-Type": "text/plain" } })),
    "400 5104": but(({ body, params }) => {
      if (body === undefined)
        return { query: "limit=0&after=%20&from=x&at=x&wait=x", params: { ...params, player_id: "nobody" } };
      if (isRaw(body)) return { query: "left=a" };
      return { body: "command" in (body as object) ? { command: "two\nlines" } : { nothing: 1 } };
    }),
    "409 5104": after(async (home, good, operation) => {
      const { keyId } = home;
      if (operation.tag === "Game servers") {
        const taken = { slug: `taken-${++made}`, showsJoinKey: false };
        await store.servers.update((await makeHome()).server.serverId, { publicStatus: taken });
        Object.assign(good.body as object, { public_status: { slug: taken.slug } });
        return;
      }
      if (operation.tag === "Webhooks") {
        const format = operation.id === "redeliver" ? "discord-status" : "standard";
        const ids = [];
        while (ids.length < 20) ids.push(await addWebhook(home, { format }));
        Object.assign(good.params ?? {}, { webhook_id: ids[0] });
        return;
      }
      if (operation.tag === "Signing in") return fillPasskeys(good);
      if (operation.tag === "People") return provokeConflict(home, good, operation);
      const { params } = good;
      if (baseOf(operation.id) === "addNote") {
        const by = { kind: "key", id: keyId, name: "test" } as const;
        for (let n = 0; n < 100; n++) {
          const note = { noteId: `note_${n}`, text: "A note", kind: "note", by, at: clock.now } as const;
          await archive.addNote(params?.server_id ?? "", "54", note);
        }
        return;
      }
      if (baseOf(operation.id) === "claimModCall") {
        const who = { kind: "key", id: "key_other", name: "other" } as const;
        const request = { action: "claim", who, mayReleaseAny: false, now: clock.now } as const;
        return archive.changeClaim(params?.server_id ?? "", CALL_ID, request);
      }
      return operation.tag === "Keys" ? store.keys.revoke(keyId, clock.now) : send(operation, good);
    }),
    "426 5104": but(() => ({ headers: { Upgrade: "" } })),
    "409 5105": async (operation) => {
      const good = { ...(await plan(operation)), headers: { "Idempotency-Key": "same" } };
      const { accept } = store.commands;
      const { promise: isStuck, resolve: tellStuck } = Promise.withResolvers<void>();
      const { promise: isFree, resolve: free } = Promise.withResolvers<void>();
      store.commands.accept = async (...draft) => {
        tellStuck();
        await isFree;
        return accept.apply(store.commands, draft);
      };
      try {
        const first = send(operation, good);
        await isStuck;
        const second = await send(operation, good);
        free();
        await first;
        return second;
      } finally {
        store.commands.accept = accept;
      }
    },
    "422 5105": async (operation) => {
      const good = { ...(await plan(operation)), headers: { "Idempotency-Key": "same" } };
      await send(operation, good);
      return send(operation, { ...good, body: { command: ":h something else" } });
    },
    "503 5106": withBrokenStore(new StoreUnavailable("broken for a test")),
    "429 5107": async (operation) => {
      const good = await plan(operation);
      clock.advance(MINUTE_MS);
      const next = { ...good, ...withWrongSecret(good) };
      for (let tries = 0; tries < 10; tries++) await send(operation, next);
      return send(operation, next);
    },
    "410 5108": but(({ params }) => {
      const after = writeCursor(params?.server_id ?? "", { number: 99, mark: 1 });
      return params?.webhook_id ? { body: { after } } : { query: `after=${after}` };
    }),
    "429 5109": async (operation) => {
      const good = { ...(await plan(operation)), query: "after=now&wait=25" };
      if (!isPageOfEvents(operation.id)) {
        // A command that waits takes its time; the streams of its key count with it.
        if (baseOf(operation.id) === "showCommand") return fillWithStreams(operation, good);
        return fillStreams(operation, good);
      }
      const max = operation.id === "readServerEvents" ? OPERATOR_STREAMS_MAX : STREAMS_PER_KEY_MAX;
      const waiting = Array.from({ length: max }, () => send(operation, good));
      await pauses.reach(WAIT_MS, max);
      try {
        return await send(operation, good);
      } finally {
        pauses.end(WAIT_MS);
        for (const response of await Promise.all(waiting)) await response.body?.cancel();
      }
    },
    "401 5111": but(() => ({ headers: { "X-Signature-Ed25519": "0".repeat(128) } })),
    "501 5110": async (operation) => {
      bare ??= startGatehouse();
      const { addServer, addKey, app, masterKey, url } = await bare;
      const slug = `bare-${++made}`;
      const server = await addServer({ community: slug });
      await app.store.servers.update(server.serverId, { publicStatus: { slug, showsJoinKey: false } });
      const { token } = await addKey(server, { commands: ["*"] });
      const isOperators = operation.template.startsWith("/admin/");
      const params = { community: slug, slug, server_id: server.serverId };
      if (operation.tag === "Signing in") return send(operation, await planBare(operation), url);
      return await send(operation, { params, token: isOperators ? masterKey : token }, url);
    },
  };

  function answerReads(): void {
    game.read = () => Response.json({ ...BASE_INFO, ...ALL_SECTIONS_INFO });
  }
  answerReads();

  return {
    gatehouse,
    game,
    clock,
    plan,
    send,
    /** Undefined when there are no steps for this error. */
    provoke(operation: DocumentedOperation, { status, code }: DocumentedError) {
      return provocations[`${status} ${code}`]?.(operation);
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      await (await bare)?.stop();
      platform.stop();
      await gateway.stop();
    },
  };
}

/** Nobody listens there. */
function newWebhook(serverId: string) {
  return { server_id: serverId, label: "a receiver", url: "http://127.0.0.1:1/", format: "standard" };
}

function isRaw(body: unknown): body is string | Uint8Array<ArrayBuffer> {
  return typeof body === "string" || body instanceof Uint8Array;
}

function isAboutMapImage(id: string): boolean {
  return ["readMapImage", "readServerMapImage", "removeServerMapImage"].includes(baseOf(id));
}

function isPageOfEvents(id: string): boolean {
  return baseOf(id) === "readEvents" || id === "readServerEvents";
}

function isAboutEvents(id: string): boolean {
  return isPageOfEvents(id) || ["streamEvents", "openEventSocket", "streamServerEvents"].includes(baseOf(id));
}

function baseOf(id: string): string {
  return id.replace(/OfCommunity$/, "");
}

/** Makes every method of the object throw. Returns a function that undoes this. */
function breakAll(thing: object, fault: Error): () => void {
  const names = new Set<string>();
  for (let layer = thing; layer !== Object.prototype; layer = Object.getPrototypeOf(layer)) {
    for (const name of Object.getOwnPropertyNames(layer)) names.add(name);
  }
  const methods = thing as Record<string, unknown>;
  const broken: [name: string, own: PropertyDescriptor | undefined][] = [];
  for (const name of names) {
    if (name === "constructor" || typeof methods[name] !== "function") continue;
    broken.push([name, Object.getOwnPropertyDescriptor(thing, name)]);
    methods[name] = () => {
      throw fault;
    };
  }
  return () => {
    for (const [name, own] of broken) {
      delete methods[name];
      if (own) Object.defineProperty(thing, name, own);
    }
  };
}
