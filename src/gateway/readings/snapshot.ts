// One reading of a game server, ready to be sent. Sections are already JSON text, and the body for each set of sections is
// cached.
import { HIDES_NOTHING, type HiddenSet } from "../../core/keys/rights.ts";
import type { ServerParts } from "../../core/ports/upstream.ts";
import { hideInParts } from "../../core/readings/hide-fields.ts";
import { SECTIONS, type SectionSet } from "../../core/sections.ts";
import { Body } from "../body.ts";

/** Callers of one server use few of the 512 sets of sections. Beyond this many, the oldest body is dropped. */
export const BODIES_MAX = 16;

export class Snapshot {
  /** By sections and hidden fields. */
  readonly #bodies = new Map<number, Body>();
  /** Made when somebody reads them: what is hidden is taken out once, not for each set of sections. */
  readonly #hidden = new Map<HiddenSet, ServerParts>();

  constructor(
    readonly parts: ServerParts,
    readonly fetchedAt: number,
  ) {}

  body(sections: SectionSet, hide: HiddenSet = HIDES_NOTHING): Body {
    const name = (hide << SECTIONS.length) | sections;
    const cached = this.#bodies.get(name);
    if (cached) return cached;
    const body = new Body(this.#assemble(sections, hide));
    if (this.#bodies.size >= BODIES_MAX) {
      const oldest = this.#bodies.keys().next();
      if (!oldest.done) this.#bodies.delete(oldest.value);
    }
    this.#bodies.set(name, body);
    return body;
  }

  /** The parts without what is hidden. */
  partsFor(hide: HiddenSet): ServerParts {
    if (hide === HIDES_NOTHING) return this.parts;
    const parts = this.#hidden.get(hide) ?? hideInParts(this.parts, hide);
    this.#hidden.set(hide, parts);
    return parts;
  }

  #assemble(sections: SectionSet, hide: HiddenSet): string {
    const parts = this.partsFor(hide);
    let text = parts.base;
    for (const [bit, name] of SECTIONS.entries()) {
      if (sections & (1 << bit)) text += `,"${name}":${parts.sections[bit]}`;
    }
    return `${text}}`;
  }
}
