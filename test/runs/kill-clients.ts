// The clients of a service that is killed: each sends one command after the other and keeps the receipts.
import { NONSENSE, type Promised } from "../command-judge.ts";
import type { Service } from "./killed-service.ts";

const COMMANDS = "/v2/game/server/command";
/** The share of submissions that are repeated although they were answered. */
const REPEATED_SHARE = 0.05;
/** How long a client waits when the queue is full. */
const FULL_WAIT_MS = 40;

/** `promised`: where its receipts go. */
type Client = { readonly name: string; readonly token: string; readonly promised: Promised[] };
type Report = {
  readonly random: () => number;
  readonly figures: { accepted: number; repeated: number };
  readonly problems: string[];
};

export class KillClients {
  readonly #service: Service;
  readonly #report: Report;
  readonly #running: Promise<void>[] = [];
  #isOver = false;

  constructor(service: Service, report: Report) {
    this.#service = service;
    this.#report = report;
  }

  start(client: Client): void {
    this.#running.push(this.#submitAll(client));
  }

  /** Resolves when every command that was begun is accepted. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#running);
  }

  /** Sends one command after the other. Repeats each with the same idempotency key until it is accepted. */
  async #submitAll({ name, token, promised }: Client): Promise<void> {
    const { random, figures, problems } = this.#report;
    for (let count = 1; !this.#isOver; count++) {
      const text = `${count % 10 === 0 ? NONSENSE : ":h"} ${name} ${count}`;
      const commandId = await this.#submitUntilAccepted(token, text);
      if (commandId === undefined) return;
      promised.push({ commandId, text });
      figures.accepted++;
      if (random() < REPEATED_SHARE) {
        figures.repeated++;
        const again = await this.#submitUntilAccepted(token, text);
        if (again !== undefined && again !== commandId) problems.push(`${text} was accepted twice`);
      }
    }
  }

  async #submitUntilAccepted(token: string, text: string): Promise<string | undefined> {
    const { figures, problems } = this.#report;
    for (let attempt = 0; ; attempt++) {
      const url = await this.#service.address();
      if (url === undefined) return undefined;
      const answer = await submit(url, token, text).catch(() => undefined);
      if (answer === undefined) figures.repeated++;
      else if (answer.status === 202) return answer.commandId;
      else if (![409, 429, 503].includes(answer.status)) {
        problems.push(`${text} was answered with ${answer.status}`);
        return undefined;
      }
      if (this.#isOver && attempt > 100) return undefined;
      await Bun.sleep(answer === undefined ? 2 : FULL_WAIT_MS);
    }
  }
}

/** The text is the idempotency key too: no client sends the same text twice. */
async function submit(url: string, token: string, command: string) {
  const response = await fetch(url + COMMANDS, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${token}`,
      "Content-Type": "application/json",
      "Idempotency-Key": command.replaceAll(" ", "-"),
    },
    body: JSON.stringify({ command }),
  });
  const body = (await response.json()) as { command_id?: string };
  return { status: response.status, commandId: body.command_id ?? "" };
}
