// The step before the routes under /session: only our own page may send them. A browser sets Origin by itself, and no page can
// change it. A request without it, or with that of another page, is refused before anything is looked up.
import { type AddressList, parseAddress } from "../../core/address.ts";
import { ERRORS, type Refusal, refuse } from "../../core/errors.ts";
import { answerRefusal } from "../answers.ts";
import type { Call } from "../call.ts";
import type { Handler } from "../operation.ts";

const OTHER_ORIGIN: Refusal = refuse(ERRORS.forbidden, { details: { reason: "origin" } });
const ORIGIN_SHAPE = /^(https?):\/\/([A-Za-z0-9.:[\]_-]{1,300})$/;
const DEFAULT_PORT = { http: ":80", https: ":443" } as const;

/** The routes that CORS never applies to. */
export function isSessionRoute(routeName: string): boolean {
  return routeName === "/session" || routeName.startsWith("/session/");
}

export type OwnOriginParts = {
  /** Whether our own listener terminates TLS. */
  readonly isTls: boolean;
  readonly trusted: AddressList;
};

export class OwnOrigin {
  constructor(private readonly parts: OwnOriginParts) {}

  /** Puts the step before a handler. */
  before(handler: Handler): Handler {
    return (call) => (this.#isOwn(call) ? handler(call) : answerRefusal(call, OTHER_ORIGIN));
  }

  /** The address of our page as its browser sees it; undefined when the request does not tell. */
  find(call: Call): string | undefined {
    if (this.#isOwn(call)) return call.request.headers.get("origin") ?? undefined;
    const origin = `${this.#isHttps(call) ? "https" : "http"}://${call.request.headers.get("host") ?? ""}`;
    return ORIGIN_SHAPE.test(origin) ? origin : undefined;
  }

  #isOwn(call: Call): boolean {
    const { headers } = call.request;
    const [, scheme, host = ""] = ORIGIN_SHAPE.exec(headers.get("origin") ?? "") ?? [];
    if (scheme === undefined || (this.#isHttps(call) && scheme !== "https")) return false;
    // Cookies are shared by all ports of a host, so the port is compared too.
    const port = DEFAULT_PORT[scheme as keyof typeof DEFAULT_PORT];
    const isSame = withoutPort(host, port) === withoutPort(headers.get("host") ?? "", port);
    // Only newer browsers send it, and only over TLS or to this machine.
    const site = headers.get("sec-fetch-site");
    return isSame && (site === null || site === "same-origin");
  }

  /** Whether the browser is known to use TLS. False when a proxy does not say so, or is not trusted. */
  #isHttps(call: Call): boolean {
    const { isTls, trusted } = this.parts;
    if (isTls) return true;
    const protocols = call.request.headers.get("x-forwarded-proto");
    if (protocols === null || !trusted.has(parseAddress(call.peerAddress) ?? "")) return false;
    // The proxy next to us writes last.
    const last = protocols.slice(protocols.lastIndexOf(",") + 1);
    return last.trim().toLowerCase() === "https";
  }
}

function withoutPort(host: string, port: string): string {
  const text = host.toLowerCase();
  return text.endsWith(port) ? text.slice(0, -port.length) : text;
}
