// Only the game can make a valid signature, and a flood of others is bounded.
import { expect, test } from "bun:test";
import { HookSigner } from "../../../test/signed-hooks.ts";
import { judgeHeaders, SignatureCheck, type SignedHeaders } from "./hook-signature.ts";

const NOW = 1_800_000_000_000;
/** The order of the group, from RFC 8032. */
const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;
const NEVER = new Promise<"given up">(() => {});
const signer = new HookSigner();
const body = Buffer.from('{"server":"Town"}');

function signedHeaders(bytes: Uint8Array = body): SignedHeaders {
  const headers = signer.sign(bytes, NOW);
  const judged = judgeHeaders(headers["X-Signature-Ed25519"] ?? null, headers["X-Signature-Timestamp"] ?? null, NOW);
  if (typeof judged === "string") throw new Error(judged);
  return judged;
}

test("a signature has one form: capitals are the same, and another number for the same point is refused", async () => {
  const check = new SignatureCheck([signer.publicKey]);
  const signed = signedHeaders();
  expect(judgeHeaders(signed.signature.toUpperCase(), signed.timestamp, NOW)).toEqual(signed);
  expect(await check.isValid(signed, body, "a", NEVER)).toBe(true);
  const bytes = Buffer.from(signed.signature, "hex");
  const number = BigInt(`0x${Buffer.from(bytes.subarray(32)).reverse().toString("hex")}`) + ORDER;
  const other = Buffer.from(number.toString(16).padStart(64, "0"), "hex").reverse();
  const signature = Buffer.concat([bytes.subarray(0, 32), other]).toString("hex");
  expect(await check.isValid({ ...signed, signature }, body, "a", NEVER)).toBe(false);
});

test("any of the keys may have signed, and no other", async () => {
  const stranger = new HookSigner().publicKey;
  const signed = signedHeaders();
  expect(await new SignatureCheck([stranger, signer.publicKey]).isValid(signed, body, "a", NEVER)).toBe(true);
  expect(await new SignatureCheck([stranger]).isValid(signed, body, "a", NEVER)).toBe(false);
});

test("one that is given up while it waits is no longer held, and the others have their turn", async () => {
  const check = new SignatureCheck([signer.publicKey]);
  const signed = signedHeaders();
  const { promise: givenUp, resolve: giveUp } = Promise.withResolvers<"given up">();
  const first = Array.from({ length: 6 }, () => check.isValid(signed, body, "a", NEVER));
  const lost = Array.from({ length: 50 }, () => check.isValid(signed, body, "a", givenUp));
  const last = Array.from({ length: 6 }, () => check.isValid(signed, body, "a", NEVER));
  expect(check.waiting).toBe(58);
  giveUp("given up");
  expect(new Set(await Promise.all(lost))).toEqual(new Set(["given up"]));
  expect(await Promise.all([...first, ...last])).toEqual(Array(12).fill(true));
  expect(check.waiting).toBe(0);
});

test("a sender whose signature comes last does not wait for the flood of another", async () => {
  const check = new SignatureCheck([signer.publicKey]);
  const signed = signedHeaders();
  const order: string[] = [];
  const checkFor = (sender: string) => check.isValid(signed, body, sender, NEVER).then(() => order.push(sender));
  const flood = Array.from({ length: 200 }, () => checkFor("flood"));
  const genuine = Array.from({ length: 5 }, () => checkFor("game"));
  await Promise.all([...flood, ...genuine]);
  // Four checks run at a time, and on a busy machine one may end long after others that began later.
  expect(order.slice(0, 30).filter((sender) => sender === "game").length).toBeGreaterThan(2);
  expect(check.waiting).toBe(0);
});

test("of one sender, small bodies are checked before large ones", async () => {
  const check = new SignatureCheck([signer.publicKey]);
  const large = new Uint8Array(60_000);
  const order: string[] = [];
  const add = (name: string, bytes: Uint8Array) =>
    check.isValid(signedHeaders(), bytes, "proxy", NEVER).then(() => order.push(name));
  const flood = Array.from({ length: 100 }, () => add("large", large));
  const genuine = Array.from({ length: 5 }, () => add("small", body));
  await Promise.all([...flood, ...genuine]);
  expect(order.slice(0, 30).filter((name) => name === "small").length).toBeGreaterThan(2);
});
