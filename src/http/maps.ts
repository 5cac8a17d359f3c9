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
import { NOT_FOUND, refuseField, refuseFields } from "../core/refuse-field.ts";
import { describeMapImage } from "../gateway/maps/describe-map.ts";
import type { ServerMaps } from "../gateway/maps/server-maps.ts";
import { answerDone } from "./admin/answer-operator.ts";
import { answerJson, answerLateRefusal, answerRefusal, NOT_CONFIGURED, respond } from "./answers.ts";
import {
  type ArchiveReader,
  type ArchiveReaderParts,
  findOperatorReader,
  toArchiveReader,
} from "./archive-reader.ts";
import { type BodyLimits, readBody } from "./body-bytes.ts";
import type { Call } from "./call.ts";
import { type Caller, READING_MAP } from "./caller-steps.ts";
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

export type MapHandlersParts = ArchiveReaderParts & {
  /** Undefined without an archive. */
  readonly maps: ServerMaps | undefined;
  readonly unsent: Pick<UnsentAnswers, "add">;
};

type Payload = { readonly bytes: Uint8Array<ArrayBuffer>; readonly etag: string; readonly headers: Headers };

export class MapHandlers {
  readonly #parts: MapHandlersParts;

  constructor(parts: MapHandlersParts) {
    this.#parts = parts;
  }

  answer(call: Call, caller: Caller): Promise<Response> {
    return this.#answer(call, toArchiveReader(this.#parts, call, READING_MAP, caller), readMap);
  }

  answerImage(call: Call, caller: Caller): Promise<Response> {
    return this.#answer(call, toArchiveReader(this.#parts, call, READING_MAP, caller), readImage);
  }

  answerOperator(call: Call): Promise<Response> {
    return this.#answer(call, findOperatorReader(this.#parts, call), readMap);
  }

  answerImageOperator(call: Call): Promise<Response> {
    return this.#answer(call, findOperatorReader(this.#parts, call), readImage);
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

  async #answer(
    call: Call,
    reader: ArchiveReader | Refusal,
    read: (call: Call, maps: ServerMaps, serverId: string) => Promise<Payload | Refusal>,
  ): Promise<Response> {
    if (isRefusal(reader)) return answerRefusal(call, reader);
    const { maps } = this.#parts;
    const { report } = reader;
    if (!maps) return answerRefusal(call, NOT_CONFIGURED, report);
    const payload = await read(call, maps, reader.serverId);
    // The key may have changed while the archive was read.
    const sections = await reader.recheck();
    if (typeof sections === "object") return answerLateRefusal(call, sections, report);
    if (isRefusal(payload)) return answerRefusal(call, payload, report);
    return this.#send(call, payload, reader);
  }

  #send(call: Call, { bytes, etag, headers }: Payload, { keyId, report }: ArchiveReader): Response {
    const isKnown = isMatchingEtag(call.request.headers.get("if-none-match"), etag);
    const payload = isKnown ? null : toPayload(call, bytes, keyId ?? "", this.#parts.unsent);
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

async function readMap(call: Call, maps: ServerMaps, serverId: string): Promise<Payload> {
  const body = await maps.read(serverId, call.now);
  const gzipped = findGzipped(call.request.headers, body);
  const headers = new Headers({ Vary: "Accept-Encoding" });
  if (gzipped) headers.set("Content-Encoding", "gzip");
  return { bytes: gzipped ?? body.bytes, etag: body.etag, headers };
}

async function readImage(_: Call, maps: ServerMaps, serverId: string): Promise<Payload | Refusal> {
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
