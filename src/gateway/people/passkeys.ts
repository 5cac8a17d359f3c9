// Passkeys: adding one, and signing in with one. The library that checks them is loaded with the first.
import { ERRORS, NOT_FOUND, type Refusal, refuse, refuseField } from "../../core/errors.ts";
import { type RandomBytes, randomBase62 } from "../../core/keys/token.ts";
import { PASSKEYS_PER_PERSON_MAX } from "../../core/people/person.ts";
import { type AuditNote, GATEHOUSE } from "../../core/ports/audit.ts";
import type { Passkey } from "../../core/ports/people.ts";
import type { Store } from "../../core/ports/store.ts";
import type { NewPasskey, PasskeySignIn } from "../../core/wire/people.ts";
import { INVALID_TOKEN } from "../keys/authenticate.ts";
import { type Client, ID_LENGTH, type NewSession, type People, type SignedIn, toOwnNote } from "./people.ts";
import type { SignedTexts, SignedValue } from "./signed-texts.ts";

/** How long somebody may look at the dialog of the browser. */
const CHALLENGE_MS = 5 * 60_000;
const NONCE_LENGTH = 32;
const NAME = "Gatehouse";
const FULL = refuseField("passkeys", `there are ${PASSKEYS_PER_PERSON_MAX} already; remove one first`, ERRORS.conflict);
const TAKEN = refuseField("id", "is known already", ERRORS.conflict);

/** In a binary its parts are not evaluated in their order, and one of them needs the polyfill of another. */
async function loadLibrary() {
  await import("reflect-metadata");
  return import("@simplewebauthn/server");
}

/** The page where a passkey is used. It works on pages of the same `rpId` only. */
export type Site = { readonly rpId: string; readonly origin: string };

export type PasskeysDeps = {
  readonly store: Pick<Store, "people" | "passkeys" | "challenges" | "catchUp">;
  readonly people: People;
  readonly texts: SignedTexts;
  readonly randomBytes: RandomBytes;
  /** The address at which people open the dashboard. */
  readonly publicUrl: string | undefined;
};

export class Passkeys {
  constructor(private readonly deps: PasskeysDeps) {}

  /** Undefined where passkeys do not work. `origin` is that of the page, as its browser sees it. */
  findSite(origin: string): Site | undefined {
    const { publicUrl } = this.deps;
    if (publicUrl !== undefined && origin !== publicUrl) return undefined;
    const address = URL.parse(origin);
    if (!address) return undefined;
    const { protocol, hostname } = address;
    const isUsable = hostname === "localhost" || (protocol === "https:" && publicUrl !== undefined);
    return isUsable ? { rpId: hostname, origin } : undefined;
  }

  /** Passkeys work over HTTPS and on localhost, and not for an address like 127.0.0.1. */
  #refuseSite(): Refusal {
    const { publicUrl } = this.deps;
    const isUsable = publicUrl !== undefined && this.findSite(publicUrl) !== undefined;
    return refuse(ERRORS.notConfigured, isUsable ? { details: { address: publicUrl } } : undefined);
  }

  /** What the browser needs to make a passkey. */
  async describeNew({ person }: SignedIn, origin: string, now: number): Promise<object | Refusal> {
    const site = this.findSite(origin);
    if (!site) return this.#refuseSite();
    const known = await this.deps.store.passkeys.list(person.personId);
    if (known.length >= PASSKEYS_PER_PERSON_MAX) return FULL;
    const { generateRegistrationOptions } = await loadLibrary();
    return generateRegistrationOptions({
      rpName: NAME,
      rpID: site.rpId,
      userName: person.name,
      userDisplayName: person.name,
      userID: new TextEncoder().encode(person.personId),
      challenge: this.#challenge(purposeOf(person.personId), now),
      timeout: CHALLENGE_MS,
      excludeCredentials: known.map(({ credentialId, transports }) => ({
        id: credentialId,
        transports: [...transports],
      })),
      authenticatorSelection: { residentKey: "required", userVerification: "preferred" },
    });
  }

  async add(
    { person }: SignedIn,
    body: NewPasskey,
    origin: string,
    client: Client,
    now: number,
  ): Promise<Passkey | Refusal> {
    const site = this.findSite(origin);
    if (!site) return this.#refuseSite();
    const challenge = this.#openChallenge(purposeOf(person.personId), body.response.clientDataJSON, now);
    if (!challenge) return INVALID_TOKEN;
    const credential = await verifyNew(body, site, challenge.text);
    if (!credential) return INVALID_TOKEN;
    const { store, randomBytes } = this.deps;
    const passkey: Passkey = {
      passkeyId: `psk_${randomBase62(ID_LENGTH, randomBytes)}`,
      personId: person.personId,
      credentialId: credential.id,
      publicKey: Buffer.from(credential.publicKey).toString("base64url"),
      counter: credential.counter,
      transports: body.response.transports ?? [],
      label: client.description,
      createdAt: now,
      lastUsedAt: null,
    };
    const details = { after: { passkey_id: passkey.passkeyId, label: passkey.label } };
    const note = toOwnNote(person, client, now, "passkey.added", details);
    const outcome = await store.passkeys.add(passkey, challenge.value, challenge.expiresAt, note);
    if (outcome === "done") return passkey;
    if (outcome === "used") return INVALID_TOKEN;
    return outcome === "full" ? FULL : TAKEN;
  }

  /** What the browser needs to ask for a passkey: any that it has for this page. */
  async describeSignIn(origin: string, now: number): Promise<object | Refusal> {
    const site = this.findSite(origin);
    if (!site) return this.#refuseSite();
    const { generateAuthenticationOptions } = await loadLibrary();
    return generateAuthenticationOptions({
      rpID: site.rpId,
      challenge: this.#challenge(SIGN_IN, now),
      timeout: CHALLENGE_MS,
      userVerification: "preferred",
    });
  }

  /** Signs in. Every refusal is the same, so that nobody learns which passkeys there are. */
  async signIn(body: PasskeySignIn, origin: string, client: Client, now: number): Promise<NewSession | Refusal> {
    const { store, people } = this.deps;
    const site = this.findSite(origin);
    if (!site) return this.#refuseSite();
    const challenge = this.#openChallenge(SIGN_IN, body.response.clientDataJSON, now);
    if (!challenge) return INVALID_TOKEN;
    const passkey = await store.passkeys.findByCredential(body.id);
    await store.catchUp();
    const person = passkey && store.people.find(passkey.personId);
    if (!passkey || !person || person.isDisabled || !isOf(person.personId, body)) return INVALID_TOKEN;
    const counter = await verifyUse(body, passkey, site, challenge.text);
    if (counter === undefined) return INVALID_TOKEN;
    const { value, expiresAt } = challenge;
    if (isBefore(counter, passkey.counter)) {
      // A request that is sent twice has an old counter too, but its challenge is used up.
      const isNew = await store.challenges.use(value, expiresAt, now);
      if (isNew) await this.#endCopied(passkey, counter, now);
      return INVALID_TOKEN;
    }
    return people.signIn(person, "passkey", body.remember ?? true, client, now, ({ draft, note }) =>
      store.passkeys.signIn(passkey.passkeyId, counter, { value, expiresAt }, draft, now, note),
    );
  }

  /** Removes one of the person's own. */
  async remove({ person }: SignedIn, passkeyId: string, client: Client, now: number): Promise<Refusal | undefined> {
    const note = toOwnNote(person, client, now, "passkey.removed", { before: { passkey_id: passkeyId } });
    const removed = await this.deps.store.passkeys.delete(person.personId, passkeyId, note);
    return removed === 0 ? NOT_FOUND : undefined;
  }

  /** Its counter went back, so there are two of it: one of them is a copy, and nobody knows which. */
  async #endCopied(
    { personId, passkeyId, label, counter: before }: Passkey,
    after: number,
    now: number,
  ): Promise<void> {
    const details = { before: { passkey_id: passkeyId, label, counter: before }, after: { counter: after } };
    const note: AuditNote = { at: now, action: "passkey.copied", actor: GATEHOUSE, details };
    await this.deps.store.passkeys.delete(personId, passkeyId, note);
  }

  #challenge(purpose: string, now: number): string {
    const { texts, randomBytes } = this.deps;
    return texts.seal(purpose, { value: randomBase62(NONCE_LENGTH, randomBytes), expiresAt: now + CHALLENGE_MS });
  }

  /** `text` is the challenge as the browser signed it. */
  #openChallenge(
    purpose: string,
    clientData: string,
    now: number,
  ): (SignedValue & { readonly text: string }) | undefined {
    const text = readChallenge(clientData);
    const opened = this.deps.texts.open(purpose, Buffer.from(text, "base64url").toString(), now);
    return opened && { ...opened, text };
  }
}

const SIGN_IN = "passkey.sign-in";

/** A challenge is for one person: nobody else can add a passkey with it. */
function purposeOf(personId: string): string {
  return `passkey.add ${personId}`;
}

/** Empty when there is none. The text comes from anybody. */
function readChallenge(clientData: string): string {
  try {
    const data: unknown = JSON.parse(Buffer.from(clientData, "base64url").toString());
    const challenge = typeof data === "object" && data !== null && "challenge" in data ? data.challenge : "";
    return typeof challenge === "string" ? challenge : "";
  } catch {
    return "";
  }
}

/** Whether the passkey says that it is this person's, as far as it says so. */
function isOf(personId: string, { response: { userHandle } }: PasskeySignIn): boolean {
  return !userHandle || Buffer.from(userHandle, "base64url").toString() === personId;
}

/** Some authenticators do not count: theirs is always 0. */
function isBefore(counter: number, known: number): boolean {
  return (counter > 0 || known > 0) && counter <= known;
}

async function verifyNew(body: NewPasskey, site: Site, expectedChallenge: string) {
  const { verifyRegistrationResponse } = await loadLibrary();
  if (!(await isWithoutCertificates(body.response.attestationObject))) return undefined;
  // Any error means that it is refused: the bytes that the library reads come from anybody.
  const verified = await verifyRegistrationResponse({
    response: { ...body, clientExtensionResults: {} } as never,
    expectedChallenge,
    expectedOrigin: site.origin,
    expectedRPID: site.rpId,
    requireUserVerification: false,
  }).catch(() => undefined);
  return verified?.registrationInfo?.credential;
}

/** We ask for no attestation. The library would fetch addresses that the certificates of one name, and these come from anybody. */
async function isWithoutCertificates(attestationObject: string): Promise<boolean> {
  const { decodeAttestationObject } = await import("@simplewebauthn/server/helpers");
  try {
    const decoded = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, "base64url")));
    const format = decoded.get("fmt");
    return format === "none" || (format === "packed" && !decoded.get("attStmt").get("x5c"));
  } catch {
    return false;
  }
}

/** The new counter; undefined when the signature is not that of the passkey. */
async function verifyUse(
  body: PasskeySignIn,
  { credentialId, publicKey, transports }: Passkey,
  site: Site,
  expectedChallenge: string,
): Promise<number | undefined> {
  const { verifyAuthenticationResponse } = await loadLibrary();
  const { remember: _, ...response } = body;
  const verified = await verifyAuthenticationResponse({
    response: { ...response, clientExtensionResults: {} } as never,
    expectedChallenge,
    expectedOrigin: site.origin,
    expectedRPID: site.rpId,
    requireUserVerification: false,
    // Zero, so that a counter that went back is no error of the library: it has consequences here.
    credential: {
      id: credentialId,
      publicKey: Buffer.from(publicKey, "base64url"),
      counter: 0,
      transports: [...transports] as never,
    },
  }).catch(() => undefined);
  return verified?.verified ? verified.authenticationInfo.newCounter : undefined;
}
