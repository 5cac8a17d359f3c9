// The stage of a fuzz run: a real process with the simulator as its game API, and a receiver of its webhooks.
import { type Listening, serve } from "../../run-gatehouse.ts";
import { HookSigner } from "../../signed-hooks.ts";
import { makeFolder, undoLater } from "../../temporary.ts";
import { WebhookReceiver } from "../../webhook-receiver.ts";
import { MASTER_KEY, type Session } from "./world.ts";

export type Stage = {
  readonly gatehouse: Listening;
  readonly signer: HookSigner;
  readonly document: Record<string, unknown>;
  readonly receiver: WebhookReceiver;
  readonly resident: Session;
};

export async function openStage(seed: number): Promise<Stage> {
  const folder = makeFolder();
  const simulator = await serve({ cwd: folder }, [
    ...["simulate", "--port", "0", "--seed", String(seed)],
    ...["--read-limit", "0", "--command-interval", "0"],
  ]);
  const receiver = await WebhookReceiver.start();
  undoLater(() => receiver.stop());
  const signer = new HookSigner();
  const gatehouse = await serve({
    cwd: folder,
    env: {
      GATEHOUSE_UPSTREAM_URL: simulator.url,
      GATEHOUSE_MASTER_KEY: MASTER_KEY,
      // So that every request can come from another address, and no address uses its limits up.
      GATEHOUSE_TRUST_PROXY: "127.0.0.1",
      GATEHOUSE_WATCH: "on",
      GATEHOUSE_COMMAND_INTERVAL_MS: "100",
      GATEHOUSE_WEBHOOKS_PRIVATE: "allow",
      GATEHOUSE_GAME_PUBLIC_KEY: signer.publicKey,
    },
  });
  const answer = await fetch(`${gatehouse.url}/openapi.json`);
  const document = (await answer.json()) as Record<string, unknown>;
  return { gatehouse, signer, document, receiver, resident: await signIn(gatehouse.url) };
}

async function signIn(url: string): Promise<Session> {
  const { person_id } = await ask(url, "POST", "/admin/people", { name: "Resident", is_operator: true });
  const invitation = await ask(url, "POST", `/admin/people/${person_id}/invitations`);
  const send = (path: string, body: object, cookie = "") => {
    const headers = { Origin: url, Cookie: cookie, "Content-Type": "application/json" };
    return fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
  };
  const redeemed = await send("/session/invitations", { secret: String(invitation.url).split("/").at(-1) });
  const [pair = ""] = redeemed.headers.getSetCookie().map((cookie) => cookie.split(";")[0]);
  const granted = (await (await send("/session", {}, pair)).json()) as { session_id: string; token: string };
  return { sessionId: granted.session_id, cookie: pair.slice(pair.indexOf("=") + 1), token: granted.token };
}

/** Sends a request of an operator; throws when it is refused. */
export async function ask(url: string, method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const answer = await fetch(url + path, {
    method,
    headers: { Authorization: `Bearer ${MASTER_KEY}`, "Content-Type": "application/json" },
    ...(body !== undefined && { body: body instanceof Uint8Array ? new Blob([body]) : JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path} answers ${answer.status}: ${text}`);
  return text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
}
