// Makes the fuzzed requests: what to ask, as whom, and what is wrong with it.
import type { Random } from "../../../src/simulator/random.ts";
import { PNG_HEADER } from "../../journeys/openapi-stage.ts";
import { encodePath, leadAstray } from "./astray.ts";
import { type FuzzedRequest, isSocket } from "./fuzzed-request.ts";
import { knowValues, poolOfOwned, takeFrom } from "./known-values.ts";
import type { FuzzedOperation, Parameter } from "./operations.ts";
import { damage, type FindValue, hostileText, letters, makeValue, spoil, writeJson } from "./values.ts";
import { HOMES, type Key, MASTER_KEY, type Owned, type Session, type World } from "./world.ts";

/** How wrong a request is. */
export type Mode = "valid" | "nearly" | "hostile" | "astray";

/** The operation that fills a pool, by the name of the pool. */
const PROVIDERS: Readonly<Record<string, string>> = {
  server: "createServer",
  key: "createKey",
  webhook: "createWebhook",
  command: "submitCommand",
  player: "listPlayers",
  note: "addNote",
  call: "listModCalls",
  person: "createPerson",
  invitation: "invitePerson",
  session: "redeemInvitation",
  entry: "listAudit",
};

const SOCKET_HEADERS = [
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
];

export class RequestMaker {
  readonly #random: Random;
  readonly #world: World;
  readonly #origin: string;
  readonly #receiverUrl: string;

  constructor(random: Random, world: World, origin: string, receiverUrl: string) {
    this.#random = random;
    this.#world = world;
    this.#origin = origin;
    this.#receiverUrl = receiverUrl;
  }

  /** The operation that must be sent first, because what this one needs does not exist yet. */
  findProvider(operation: FuzzedOperation): string | undefined {
    const missing = poolsOf(operation).find((pool) => this.#world.find(pool) === undefined);
    return missing === undefined ? undefined : PROVIDERS[missing];
  }

  async make(operation: FuzzedOperation, mode: Mode): Promise<FuzzedRequest> {
    const random = this.#random;
    const isWrong = mode === "nearly" || mode === "hostile";
    // Of a request that is nearly right, one part is wrong.
    const wrong = mode === "nearly" ? random.pick(["path", "query", "header", "body", "key"]) : undefined;
    const isWrongPart = (part: string) => isWrong && (mode === "hostile" ? random.chance(0.4) : wrong === part);
    const pool = poolOfOwned(operation);
    const owned = pool === undefined ? undefined : takeFrom<Owned>(this.#world, pool, operation);
    const session = this.#chooseSession(operation, mode);
    const find = knowValues(random, this.#world, this.#receiverUrl, { operation, owned, session });
    const place = (where: Parameter["in"]) => operation.parameters.filter((one) => one.in === where);
    let path = operation.template.replace(/\{(\w+)\}/g, (_, name: string) => {
      const schema = place("path").find((one) => one.name === name)?.schema ?? {};
      return encodeURIComponent(String(makeValue(random, schema, name, find)));
    });
    const isAstray = isWrongPart("path") && path.includes("_");
    if (isAstray) path = path.replace(/[a-z]+_\w+/, () => encodePath(hostileText(random)));
    const query = this.#makeQuery(place("query"), find, isWrongPart("query"), operation);
    const access = await this.#makeAccess(operation, isWrongPart("key"), owned, session);
    const content = this.#makeBody(operation, find, isWrongPart("body"));
    const headers = [
      `Host: ${new URL(this.#origin).host}`,
      `X-Forwarded-For: ${this.#makeAddress()}`,
      ...access.headers,
      ...content.headers,
      ...this.#makeHeaders(place("header"), find, isWrongPart("header")),
      ...(isSocket(operation) && !(isWrong && random.chance(0.2)) ? SOCKET_HEADERS : []),
      ...(random.chance(0.03) ? ["Accept-Encoding: gzip"] : []),
    ];
    const request = { operation, method: operation.method, target: path + query, headers, isAstray };
    const made = { ...request, body: content.body, key: access.key, owned };
    return mode === "astray" ? leadAstray(random, this.#world, made) : made;
  }

  /** Deletes a server that is not needed any more. */
  makeDeletion(operation: FuzzedOperation, serverId: string): FuzzedRequest {
    const headers = [`Host: ${new URL(this.#origin).host}`, `Authorization: Bearer ${MASTER_KEY}`];
    const target = operation.template.replace("{server_id}", serverId);
    return { operation, method: "DELETE", target, headers, body: undefined, isAstray: false, key: undefined };
  }

  /** What may end a session gets one that the run has made. */
  #chooseSession({ method, security }: FuzzedOperation, mode: Mode): Session | undefined {
    const needsOne = security.some((name) => name.startsWith("session"));
    const isHarmless = needsOne && method !== "DELETE" && mode === "valid";
    return isHarmless && this.#random.chance(0.5) ? this.#world.resident : this.#world.find<Session>("session");
  }

  #makeAddress(): string {
    const byte = () => this.#random.integer(1, 254);
    return `10.${byte()}.${byte()}.${byte()}`;
  }

  #makeQuery(parameters: readonly Parameter[], find: FindValue, isWrong: boolean, { id }: FuzzedOperation): string {
    const random = this.#random;
    const isNeeded = (name: string) => id === "setServerMapImage" || random.chance(name === "cursor" ? 0.1 : 0.3);
    const pairs = parameters
      .filter(({ name }) => isNeeded(name))
      // Both ways at once are refused.
      .filter(({ name }, _, all) => name !== "before" || !all.some((one) => one.name === "after"))
      .map(({ name, schema }) => [name, encodeURIComponent(String(makeValue(random, schema, name, find)))]);
    if (isWrong) {
      // A long wait is no fault, but it holds up the run.
      const names = parameters.map(({ name }) => name).filter((name) => name !== "wait");
      const name = random.chance(0.8) && names.length > 0 ? random.pick(names) : encodePath(hostileText(random));
      pairs.push([name, encodePath(hostileText(random))]);
      if (random.chance(0.1)) for (let more = 0; more < 300; more++) pairs.push([`x${more}`, "1"]);
    }
    return pairs.length === 0 ? "" : `?${pairs.map((pair) => pair.join("=")).join("&")}`;
  }

  #makeHeaders(parameters: readonly Parameter[], find: FindValue, isWrong: boolean): string[] {
    const random = this.#random;
    const made = parameters
      .filter(({ name }) => !name.startsWith("X-Signature") && random.chance(0.3))
      .map(({ name, schema }) => `${name}: ${toHeaderText(String(makeValue(random, schema, name, find)))}`);
    if (!isWrong) return made;
    const names = [...parameters.map(({ name }) => name), "Content-Type", "Origin", "Cookie", "Accept", "X-A", "Range"];
    return [...made, `${random.pick(names)}: ${toHeaderText(hostileText(random))}`];
  }

  async #makeAccess(
    operation: FuzzedOperation,
    isWrong: boolean,
    owned: Owned | undefined,
    session: Session | undefined,
  ): Promise<{ headers: string[]; key?: Key }> {
    const { security, template } = operation;
    const isSession = template.startsWith("/session");
    const page = isSession ? [`Origin: ${this.#origin}`, `Cookie: gatehouse_session=${session?.cookie ?? "x"}`] : [];
    if (isWrong || this.#random.chance(0.05)) return { headers: [...page, ...this.#makeWrongAccess(security)] };
    if (security.includes("masterKey")) return { headers: [`Authorization: Bearer ${MASTER_KEY}`] };
    if (security.includes("facade")) {
      const key = await this.#world.takeKey();
      return { headers: [`server-key: ${this.#random.chance(0.8) ? key.facadeKey : key.token}`], key };
    }
    if (security.includes("sessionToken") && !security.includes("sessionCookie"))
      return { headers: [`Authorization: Bearer ${session?.token ?? "x"}`] };
    if (!security.includes("apiKey")) return { headers: page };
    // Most commands are for one server, so that some wait there and can be cancelled.
    const isCommand = operation.method === "POST" && template.endsWith("/command");
    const home = isCommand && this.#random.chance(0.7) ? 0 : this.#random.integer(0, HOMES - 1);
    const key = await this.#world.takeKey(owned?.home ?? home);
    return { headers: [...page, `Authorization: Bearer ${key.token}`], key };
  }

  /** None, one that may do little or nothing, or garbage. */
  #makeWrongAccess(security: readonly string[]): string[] {
    const random = this.#random;
    const odd = random.pick(this.#world.oddKeys);
    if (security.includes("facade")) {
      const text = random.pick([odd.facadeKey, odd.token, "a-b", "x", "", `${odd.token}-${odd.token}`]);
      return random.chance(0.1) ? [] : [`server-key: ${text}`];
    }
    const text = random.pick([
      `Bearer ${odd.token}`,
      `Bearer ${odd.token}`,
      `Bearer ${odd.token}`,
      `bearer   ${odd.token}`,
      `Bearer ${odd.token} ${odd.token}`,
      `Bearer ${odd.token.slice(0, -1)}`,
      `Bearer gth_${letters(random, 36)}`,
      `Bearer gts_${letters(random, 72)}`,
      `Bearer ${odd.facadeKey}`,
      `Bearer ${MASTER_KEY}`,
      `Bearer ${MASTER_KEY}x`,
      "Bearer",
      "Bearer ",
      "Basic YTpi",
      `Bearer ${"x".repeat(5_000)}`,
      `Bearer ${toHeaderText(hostileText(random))}`,
    ]);
    return random.chance(0.1) ? [] : [`Authorization: ${text}`];
  }

  #makeBody(
    { id, body, method }: FuzzedOperation,
    find: FindValue,
    isWrong: boolean,
  ): { headers: string[]; body: Uint8Array | undefined } {
    const random = this.#random;
    if (!body) {
      const isOdd = isWrong && method !== "GET";
      return isOdd ? withLength(Buffer.from(hostileText(random)), "text/plain") : { headers: [], body: undefined };
    }
    const [mediaType = ""] = body.mediaTypes;
    if (mediaType !== "application/json") {
      const bytes = isWrong ? damage(random, PNG_HEADER.toString("latin1")) : PNG_HEADER;
      return withLength(bytes, random.pick(body.mediaTypes));
    }
    const value = makeValue(random, body.schema, "", find);
    let bytes: Buffer = Buffer.from(writeJson(value));
    let type = mediaType;
    if (isWrong) {
      if (random.chance(0.1)) type = random.pick(["text/plain", "application/json; charset=utf-16", ""]);
      bytes = random.chance(0.7) ? Buffer.from(writeJson(spoil(random, value))) : damage(random, writeJson(value));
    }
    const signature = id === "receiveGameWebhook" && !(isWrong && random.chance(0.3));
    const signed = signature ? this.#world.signer.sign(bytes, Date.now()) : {};
    const content = withLength(bytes, type);
    return {
      ...content,
      headers: [...content.headers, ...Object.entries(signed).map((pair) => pair.join(": "))],
    };
  }
}

function withLength(body: Uint8Array, type: string): { headers: string[]; body: Uint8Array } {
  return { headers: [`Content-Length: ${body.length}`, `Content-Type: ${type}`], body };
}

/** What the operation needs in the path or the body, as far as somebody must have made it. */
function poolsOf({ id, template, body }: FuzzedOperation): string[] {
  const fields = Object.keys((body?.schema.properties ?? {}) as object);
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  if (id.startsWith("create")) names.push(...fields);
  if (fields.includes("secret")) names.push("invitation_id");
  const pools = names.filter((name) => name.endsWith("_id")).map((name) => name.slice(0, -"_id".length));
  // Anybody may be forgotten, also who was never there.
  if (template.startsWith("/admin/players")) return [];
  return pools.filter((pool) => pool in PROVIDERS);
}

/** Without what would end the header. */
function toHeaderText(text: string): string {
  return Buffer.from(text)
    .toString("latin1")
    .replace(/[\0-\x1f\x7f]/g, "")
    .slice(0, 6_000);
}
