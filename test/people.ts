// People for tests: browsers that keep cookies as real ones do, invitations, and a passkey made of software.
import { createHash, createSign, generateKeyPairSync, randomBytes } from "node:crypto";
import { hashToken, mintInvitationSecret } from "../src/core/keys/token.ts";
import type { Person } from "../src/core/people/person.ts";
import type { PersonDraft } from "../src/core/ports/people.ts";
import { readAs } from "./journeys/operator.ts";
import type { TestGatehouse } from "./start-gatehouse.ts";

export const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

export type TokenBody = {
  readonly token: string;
  readonly expires_at: number;
  readonly expires_in: number;
  readonly server_id: string | null;
  readonly session_id: string;
  readonly session_expires_at: number;
};

/** What a browser keeps and sends by itself, with our page open. */
export class PageBrowser {
  readonly cookies = new Map<string, string>();
  /** The attributes of each cookie as it was last set. */
  readonly attributes = new Map<string, string>();

  constructor(
    readonly url: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {}

  async send(method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<Response> {
    const kept = Array.from(this.cookies, ([name, value]) => `${name}=${value}`);
    const response = await fetch(this.url + path, {
      method,
      headers: {
        ...(method !== "GET" && { Origin: this.url, "Sec-Fetch-Site": "same-origin" }),
        "User-Agent": FIREFOX,
        Cookie: ["other=1", ...kept, "more=2"].join("; "),
        ...(body && { "Content-Type": "application/json" }),
        ...this.headers,
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
      redirect: "manual",
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = "", attributes = ""] = /^([^=]+)=([^;]*); (.*)$/.exec(line) ?? [];
      this.attributes.set(name, attributes);
      if (value === "") this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return response;
  }

  redeem(secret: string, remember?: boolean): Promise<Response> {
    return this.send("POST", "/session/invitations", { secret, ...(remember !== undefined && { remember }) });
  }

  grant(serverId?: string, headers: Record<string, string> = {}): Promise<Response> {
    return this.send("POST", "/session", serverId === undefined ? {} : { server_id: serverId }, headers);
  }

  async token(serverId?: string): Promise<string> {
    return (await readAs<TokenBody>(await this.grant(serverId))).token;
  }
}

let names = 0;

export async function addPerson(
  { app, clock }: Pick<TestGatehouse, "app" | "clock">,
  draft: Partial<PersonDraft> = {},
): Promise<Person> {
  const whole = { isOperator: false, servers: [], playerId: null, chatId: null, isDisabled: false, ...draft };
  const made = await app.store.people.create({ name: `Person ${++names}`, ...whole }, clock.now);
  if ("refused" in made) throw new Error(made.refused);
  return made;
}

/** The secret of a new invitation. */
export async function invite(
  { app, clock }: Pick<TestGatehouse, "app" | "clock">,
  { personId }: Pick<Person, "personId">,
): Promise<string> {
  const secret = mintInvitationSecret(randomBytes);
  await app.store.invitations.add(personId, hashToken(secret), clock.now + 86_400_000);
  return secret;
}

/** A browser in which the person is signed in. */
export async function signIn(
  gatehouse: TestGatehouse,
  person: Pick<Person, "personId">,
  remember = true,
): Promise<PageBrowser> {
  const browser = new PageBrowser(gatehouse.url);
  await readAs(await browser.redeem(await invite(gatehouse, person), remember), 201);
  return browser;
}

type Options = { readonly challenge: string; readonly rpId?: string; readonly rp?: { readonly id: string } };

/** Signs like an authenticator with a P-256 key. */
export class SoftwarePasskey {
  readonly id = randomBytes(32);
  /** Counts its uses, unless it is 0. */
  counter = 1;
  readonly #pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
  #userHandle = "";

  constructor(readonly origin: string) {}

  /** The body that adds it. */
  create(options: Options & { readonly user: { readonly id: string } }): object {
    this.#userHandle = options.user.id;
    const jwk = this.#pair.publicKey.export({ format: "jwk" });
    const [x, y] = [Buffer.from(jwk.x ?? "", "base64url"), Buffer.from(jwk.y ?? "", "base64url")];
    const key = Buffer.concat([Buffer.from("a5010203262001215820", "hex"), x, Buffer.from("225820", "hex"), y]);
    const length = Buffer.alloc(2);
    length.writeUInt16BE(this.id.length);
    const data = Buffer.concat([this.#authData(options, 0x45), Buffer.alloc(16), length, this.id, key]);
    const attestation = Buffer.concat([
      Buffer.from("a363666d74646e6f6e656761747453746d74a0686175746844617461", "hex"),
      Buffer.from([0x58, data.length]),
      data,
    ]);
    return this.#credential({
      clientDataJSON: this.#clientData("webauthn.create", options),
      attestationObject: attestation.toString("base64url"),
      transports: ["internal"],
    });
  }

  /** The body that signs in with it. */
  use(options: Options): object {
    if (this.counter > 0) this.counter++;
    const clientDataJSON = this.#clientData("webauthn.get", options);
    const data = this.#authData(options, 0x05);
    const hash = createHash("sha256").update(Buffer.from(clientDataJSON, "base64url")).digest();
    const signature = createSign("sha256").update(data).update(hash).sign(this.#pair.privateKey);
    return this.#credential({
      clientDataJSON,
      authenticatorData: data.toString("base64url"),
      signature: signature.toString("base64url"),
      userHandle: this.#userHandle,
    });
  }

  #credential(response: object): object {
    const id = this.id.toString("base64url");
    return { id, rawId: id, type: "public-key", clientExtensionResults: {}, response };
  }

  #clientData(type: string, { challenge }: Options): string {
    return Buffer.from(JSON.stringify({ type, challenge, origin: this.origin })).toString("base64url");
  }

  #authData({ rpId, rp }: Options, flags: number): Buffer {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(this.counter);
    const hash = createHash("sha256")
      .update(rpId ?? rp?.id ?? "")
      .digest();
    return Buffer.concat([hash, Buffer.from([flags]), counter]);
  }
}
