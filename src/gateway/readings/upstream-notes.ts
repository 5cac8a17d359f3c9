// What the game API has forbidden outlives the process: to ask during a pause, or with a key that was refused, is what it bans
// for. Instances on one Redis share what they know; one alone notes it in its store.
import type { Budget } from "../../core/budget.ts";
import type { Log } from "../../core/ports/log.ts";
import type { Store } from "../../core/ports/store.ts";
import type { UpstreamFailure } from "../../core/ports/upstream.ts";
import { hashToken } from "../../core/token.ts";

const PAUSE = "upstream-pause";
const REFUSED_KEYS = "refused-server-keys";
const REFUSED_GLOBAL_KEY = "refused-global-key";

export type RefusedKey = {
  readonly serverId: string;
  readonly keyRevision: number;
  readonly failure: UpstreamFailure;
};

export type Pause = Pick<Budget, "pausedUntil" | "pauseMs">;

/** Hashed, because the global key is a secret. */
export function identifyUpstream(baseUrl: string, globalKey: string | undefined): string {
  return hashToken(`${baseUrl} ${globalKey ?? ""}`);
}

export type UpstreamNotes = {
  /** As they were noted last. */
  readonly pause: Pause | undefined;
  readonly refusedKeys: readonly RefusedKey[];
  /** Null while the global key may be used. */
  readonly globalKeyFailure: UpstreamFailure | null;
  savePause(pause: Pause): void;
  saveRefusedKeys(keys: readonly RefusedKey[]): void;
  saveGlobalKeyFailure(failure: UpstreamFailure | null): void;
};

/** `identity` stands for the game API and the global key: nothing is known yet about another one. */
export async function openUpstreamNotes(
  { servers, settings }: Pick<Store, "servers" | "settings">,
  identity: string,
  log: Log,
): Promise<UpstreamNotes> {
  async function find<T>(name: string): Promise<T | undefined> {
    const noted = await settings.find(name);
    const { by, said } = noted === undefined ? {} : (JSON.parse(noted) as { by?: string; said?: T });
    return by === identity ? said : undefined;
  }
  function save(name: string, said: unknown): void {
    settings.save(name, JSON.stringify({ by: identity, said })).catch((error) => {
      log.warn({ err: error }, "what the game API forbids could not be noted: a restart would forget it");
    });
  }
  const refused = (await find<RefusedKey[]>(REFUSED_KEYS)) ?? [];
  return {
    pause: await find<Pause>(PAUSE),
    // A key that was set anew since is not the one that was refused.
    refusedKeys: refused.filter(({ serverId, keyRevision }) => {
      return servers.find(serverId)?.keyRevision === keyRevision;
    }),
    globalKeyFailure: (await find<UpstreamFailure | null>(REFUSED_GLOBAL_KEY)) ?? null,
    savePause: (pause) => save(PAUSE, pause),
    saveRefusedKeys: (keys) => save(REFUSED_KEYS, keys),
    saveGlobalKeyFailure: (failure) => save(REFUSED_GLOBAL_KEY, failure),
  };
}
