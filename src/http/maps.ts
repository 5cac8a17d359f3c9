// The map of a server: what was learned of it, and the picture behind it. For callers whose key may read Players, and for
// operators, who also set and remove the picture.
import { createHash } from "node:crypto";
import { ERRORS, isRefusal, type Refusal, refuse } from "../core/errors.ts";
import {
  CORNER_MAX,
  IMAGE_BYTES_MAX,
  IMAGE_SIDE_MAX,
  type ImageHeader,
  type MapCorners,
  readImageHeader,
} from "../core/map-image.ts";
import type { Actor } from "../core/ports/audit.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { ServerStore } from "../core/ports/servers.ts";
import { NOT_FOUND, refuseField, refuseFields } from "../core/refuse-field.ts";
import type { LimitReport } from "../gateway/keys/admit.ts";
import { describeMapImage } from "../gateway/maps/describe-map.ts";
import type { ServerMaps } from "../gateway/maps/server-maps.ts";
import { answerDone } from "./admin/answer-operator.ts";
import { answerJson, answerLateRefusal, answerRefusal, NOT_CONFIGURED, respond } from "./answers.ts";
import { type BodyLimits, readBody } from "./body-bytes.ts";
import type { Call } from "./call.ts";
import { type Caller, type CallerSteps, READING_MAP } from "./caller-steps.ts";
import { isMatchingEtag } from "./conditional.ts";
import { findOnly, pathIdOf, queryOf } from "./parse-request.ts";
import { findGzipped, TOO_MUCH_UNSENT, toPayload } from "./send-body.ts";
import type { UnsentAnswers } from "./unsent-answers.ts";

/** Only after the master key was checked. */
const IMAGE_LIMITS: BodyLimits = { bytesMax: IMAGE_BYTES_MAX, deadlineMs: 60_000 };
/** For both kinds of answers: each reader asks again, with the ETag. */
const REVALIDATED = "private, no-cache";
/** A picture that is opened as a page of its own loads and runs nothing. */
const IMAGE_POLICY = "default-src 'none'; sandbox";
const CORNER_NAMES = ["left", "top", "right", "bottom"] as const;

export type MapHandlersParts = {
  /** Undefined without an archive. */
  readonly maps: ServerMaps | undefined;
  readonly servers: Pick<ServerStore, "find">;
  readonly callerSteps: Pick<CallerSteps, "recheck">;
  readonly clock: Clock;
  readonly unsent: Pick<UnsentAnswers, "add">;
};

/** Who reads which map. `recheck` asks again whether that is still allowed. */
type Reader = {
  readonly serverId: string;
  readonly keyId: string;
  readonly report: LimitReport | null;
  readonly recheck: () => Promise<Refusal | undefined>;
};

type Payload = { readonly bytes: Uint8Array<ArrayBuffer>; readonly etag: string; readonly headers: Headers };

export class MapHandlers {
  readonly #parts: MapHandlersParts;

  constructor(parts: MapHandlersParts) {
    this.#parts = parts;
  }

  answer(call: Call, caller: Caller): Promise<Response> {
    return this.#answer(call, this.#readerOf(call, caller), (maps, reader) =>
      this.#readMap(call, maps, reader),
    );
  }

  answerImage(call: Call, caller: Caller): Promise<Response> {
    return this.#answer(call, this.#readerOf(call, caller), readImage);
  }

  answerOperator(call: Call): Promise<Response> {
    return this.#answer(call, this.#operatorOf(call), (maps, reader) => this.#readMap(call, maps, reader));
  }

  answerImageOperator(call: Call): Promise<Response> {
    return this.#answer(call, this.#operatorOf(call), readImage);
  }

  async setImage(call: Call, actor: Actor): Promise<Response> {
    const { maps, servers, clock } = this.#parts;
    const serverId = pathIdOf(call);
    const refusal = this.#findOperatorRefusal(serverId);
    if (refusal || !maps) return answerRefusal(call, refusal ?? NOT_CONFIGURED);
    const corners = parseCorners(queryOf(call));
    if (isRefusal(corners)) return answerRefusal(call, corners);
    const content = await readBody(call, IMAGE_LIMITS);
    if (isRefusal(content)) return answerRefusal(call, content);
    const header = parseImage(call, content);
    if (isRefusal(header)) return answerRefusal(call, header);
    // It may have been deleted while the body arrived.
    if (!servers.find(serverId)) return answerRefusal(call, NOT_FOUND);
    const hash = createHash("sha256").update(content).digest("hex").slice(0, 32);
    const image = { ...header, ...corners, hash, bytes: content.length, setAt: clock(), content };
    await maps.setImage(serverId, image, actor);
    return answerJson(describeMapImage(image));
  }

  async removeImage(call: Call, actor: Actor): Promise<Response> {
    const { maps } = this.#parts;
    const serverId = pathIdOf(call);
    const refusal = this.#findOperatorRefusal(serverId);
    if (refusal || !maps) return answerRefusal(call, refusal ?? NOT_CONFIGURED);
    const isRemoved = await maps.removeImage(serverId, actor, call.now);
    return answerDone(call, isRemoved ? undefined : NOT_FOUND);
  }

  #findOperatorRefusal(serverId: string): Refusal | undefined {
    const { maps, servers } = this.#parts;
    if (!servers.find(serverId)) return NOT_FOUND;
    return maps ? undefined : NOT_CONFIGURED;
  }

  #readerOf(call: Call, { key, server, report }: Caller): Reader {
    const { callerSteps, clock } = this.#parts;
    return {
      serverId: server.serverId,
      keyId: key.keyId,
      report,
      async recheck() {
        const found = await callerSteps.recheck(call, READING_MAP, clock());
        return isRefusal(found) ? found : undefined;
      },
    };
  }

  #operatorOf(call: Call): Reader {
    const serverId = pathIdOf(call);
    const recheck = async () => this.#findOperatorRefusal(serverId);
    return { serverId, keyId: "", report: null, recheck };
  }

  async #answer(
    call: Call,
    reader: Reader,
    read: (maps: ServerMaps, reader: Reader) => Promise<Payload | Refusal>,
  ): Promise<Response> {
    const { maps, servers } = this.#parts;
    const { report, serverId } = reader;
    if (!servers.find(serverId)) return answerRefusal(call, NOT_FOUND, report);
    if (!maps) return answerRefusal(call, NOT_CONFIGURED, report);
    const payload = await read(maps, reader);
    // The key may have changed while the archive was read.
    const refusal = await reader.recheck();
    if (refusal) return answerLateRefusal(call, refusal, report);
    if (isRefusal(payload)) return answerRefusal(call, payload, report);
    return this.#send(call, payload, reader);
  }

  async #readMap(call: Call, maps: ServerMaps, { serverId }: Reader): Promise<Payload> {
    const body = await maps.read(serverId, call.now);
    const gzipped = findGzipped(call.request.headers, body);
    const headers = new Headers({ Vary: "Accept-Encoding" });
    if (gzipped) headers.set("Content-Encoding", "gzip");
    return { bytes: gzipped ?? body.bytes, etag: body.etag, headers };
  }

  #send(call: Call, { bytes, etag, headers }: Payload, { keyId, report }: Reader): Response {
    const isKnown = isMatchingEtag(call.request.headers.get("if-none-match"), etag);
    const payload = isKnown ? null : toPayload(call, bytes, keyId, this.#parts.unsent);
    if (payload === undefined) return answerRefusal(call, TOO_MUCH_UNSENT, report);
    const response = respond(payload, isKnown ? 304 : 200, report);
    for (const [name, value] of headers) {
      if (!isKnown || name !== "content-encoding") response.headers.set(name, value);
    }
    response.headers.set("Cache-Control", REVALIDATED);
    response.headers.set("ETag", etag);
    return response;
  }
}

async function readImage(maps: ServerMaps, { serverId }: Reader): Promise<Payload | Refusal> {
  const image = await maps.readImage(serverId);
  if (!image) return NOT_FOUND;
  return {
    bytes: image.content as Uint8Array<ArrayBuffer>,
    etag: `"${image.hash}"`,
    headers: new Headers({ "Content-Type": image.type, "Content-Security-Policy": IMAGE_POLICY }),
  };
}

/** The places of the game that the edges of the picture show. Every wrong one is named. */
export function parseCorners(query: URLSearchParams): MapCorners | Refusal {
  const details: Record<string, string> = {};
  const [left = 0, top = 0, right = 0, bottom = 0] = CORNER_NAMES.map((name) => {
    const text = findOnly(query, name) ?? "";
    const value = /^-?\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
    if (!(Math.abs(value) <= CORNER_MAX))
      details[name] = `must be a whole number from -${CORNER_MAX} to ${CORNER_MAX}, once`;
    return value;
  });
  if (left >= right) details.right = "must be more than left";
  if (top >= bottom) details.bottom = "must be more than top";
  return Object.keys(details).length > 0 ? refuseFields(details) : { left, top, right, bottom };
}

/** By its bytes: what the request calls it does not matter. */
function parseImage(call: Call, content: Uint8Array): ImageHeader | Refusal {
  const encoding = call.request.headers.get("content-encoding") ?? "identity";
  const header = encoding.trim().toLowerCase() === "identity" ? readImageHeader(content) : undefined;
  if (!header) return refuse(ERRORS.unsupportedMediaType);
  if (header.width > IMAGE_SIDE_MAX || header.height > IMAGE_SIDE_MAX)
    return refuseField("body", `must be a picture of at most ${IMAGE_SIDE_MAX} pixels a side`);
  return header;
}
