// An operator for tests: uses the admin API only.
import { expect } from "bun:test";
import type { TestGatehouse } from "../start-gatehouse.ts";

export type ServerBody = {
  readonly server_id: string;
  readonly name: string;
  readonly community: string | null;
  readonly created_at: number;
  readonly simulated: boolean;
  readonly watch: boolean;
  readonly public_status: unknown;
  readonly owners_sign_in: boolean;
  readonly state: string;
  readonly players: number | null;
  readonly max_players: number | null;
  readonly queue: number | null;
  readonly open_modcalls: number | null;
  readonly open_calls: number | null;
  readonly last_read_at: number | null;
  readonly last_error: {
    readonly at: number;
    readonly upstream_code: number;
    readonly upstream_message: string;
  } | null;
  readonly watching: {
    readonly state: string;
    readonly interval_ms: number | null;
    readonly last_reading_at: number | null;
    readonly reason: string | null;
  };
};

export type UsageBody = {
  readonly requests: number;
  readonly refusals: Readonly<Record<string, number>>;
  readonly hours: readonly {
    readonly hour: number;
    readonly requests: number;
    readonly refusals: Readonly<Record<string, number>>;
  }[];
};

export type KeyBody = {
  readonly key_id: string;
  readonly server_id: string;
  readonly label: string;
  readonly state: string;
  readonly versions: readonly string[];
  readonly sections: readonly string[];
  readonly commands: readonly string[];
  readonly hide: readonly string[];
  readonly may: readonly string[];
  readonly ip_allow: readonly string[];
  readonly expires_at: number | null;
  readonly suspended: boolean;
  readonly created_at: number;
  readonly last_used_at: number | null;
  readonly revoked_at: number | null;
};

export type NewKeyBody = KeyBody & { readonly token: string; readonly facade_key: string };
export type ShownKeyBody = KeyBody & {
  readonly usage: UsageBody;
  readonly grace_tokens: readonly { readonly valid_until: number }[];
};
export type RotationBody = {
  readonly key_id: string;
  readonly token: string;
  readonly facade_key: string;
  readonly old_token_valid_until: number;
};

export type AuditBody = {
  readonly id: string;
  readonly at: number;
  readonly action: string;
  readonly actor: { readonly kind: string; readonly id: string; readonly name: string; readonly address: string };
  readonly target: string;
  readonly details: { readonly before?: unknown; readonly after?: unknown };
};

export type PageBody<T> = { readonly items: readonly T[]; readonly next: string | null };
export type RefusalBody = {
  readonly code: number;
  readonly message: string;
  readonly details?: Readonly<Record<string, string>>;
};

/** The body of an answer that must have this status. */
export async function readAs<T>(response: Response, status = 200): Promise<T> {
  const text = await response.text();
  if (response.status !== status) throw new Error(`${response.status} instead of ${status}: ${text}`);
  expect(response.headers.get("content-type")).toBe("application/json");
  return JSON.parse(text) as T;
}

export async function expectRefusal(response: Response, status: number, body: unknown): Promise<void> {
  const text = await response.text();
  const { reasons, ...answer } = JSON.parse(text);
  const isCoded = typeof body === "object" && body !== null && "reasons" in body;
  expect({ status: response.status, body: isCoded ? { ...answer, reasons } : answer }).toEqual({ status, body });
  expect(response.headers.get("content-type")).toBe("application/json");
}

let names = 0;

export function createOperator({ admin }: Pick<TestGatehouse, "admin">) {
  async function list<T>(path: string): Promise<T[]> {
    const items: T[] = [];
    let next: string | null = null;
    do {
      const cursor: string = next === null ? "" : `&cursor=${next}`;
      const page: PageBody<T> = await readAs(await admin("GET", `${path}?limit=200${cursor}`));
      items.push(...page.items);
      next = page.next;
    } while (next !== null);
    return items;
  }

  return {
    list,
    async addServer(body: object = {}): Promise<ServerBody> {
      const whole = { name: `Server ${++names}`, server_key: "test-Server", ...body };
      return readAs(await admin("POST", "/admin/servers", whole), 201);
    },
    async addKey({ server_id }: Pick<ServerBody, "server_id">, body: object = {}): Promise<NewKeyBody> {
      return readAs(await admin("POST", "/admin/keys", { server_id, label: "bot", ...body }), 201);
    },
    async changeKey({ key_id }: Pick<KeyBody, "key_id">, body: object): Promise<KeyBody> {
      return readAs(await admin("PATCH", `/admin/keys/${key_id}`, body));
    },
    async showKey({ key_id }: Pick<KeyBody, "key_id">): Promise<ShownKeyBody> {
      return readAs(await admin("GET", `/admin/keys/${key_id}`));
    },
    async rotate({ key_id }: Pick<KeyBody, "key_id">, body?: object): Promise<RotationBody> {
      return readAs(await admin("POST", `/admin/keys/${key_id}/rotate`, body));
    },
    async revoke({ key_id }: Pick<KeyBody, "key_id">): Promise<void> {
      expect((await admin("DELETE", `/admin/keys/${key_id}`)).status).toBe(204);
    },
    /** Newest first. */
    listAudit: () => list<AuditBody>("/admin/audit"),
    /** Everything that a change could affect, except the times of last use. */
    async captureState(): Promise<object> {
      return {
        servers: await list<ServerBody>("/admin/servers"),
        keys: (await list<KeyBody>("/admin/keys")).map((key) => ({ ...key, last_used_at: null })),
        blocks: await list("/admin/blocks"),
        audit: await list("/admin/audit"),
      };
    },
  };
}

export type Operator = ReturnType<typeof createOperator>;
