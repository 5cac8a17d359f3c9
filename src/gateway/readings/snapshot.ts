// One reading of a game server, ready to be sent. Sections are already JSON text, and the body for each set of sections is
// cached.
import type { ServerParts } from "../../core/ports/upstream.ts";
import { SECTIONS, type SectionSet } from "../../core/sections.ts";
import { Body } from "../body.ts";

/** Callers of one server use few of the 512 sets of sections. Beyond this many, the oldest body is dropped. */
export const BODIES_MAX = 16;
export class Snapshot {
  readonly #bodies = new Map<SectionSet, Body>();

  constructor(
    readonly parts: ServerParts,
    readonly fetchedAt: number,
  ) {}

  body(sections: SectionSet): Body {
    const cached = this.#bodies.get(sections);
    if (cached) return cached;
    const body = new Body(this.#assemble(sections));
    if (this.#bodies.size >= BODIES_MAX) {
      const oldest = this.#bodies.keys().next();
      if (!oldest.done) this.#bodies.delete(oldest.value);
    }
    this.#bodies.set(sections, body);
    return body;
  }

  #assemble(sections: SectionSet): string {
    let text = this.parts.base;
    for (const [bit, name] of SECTIONS.entries()) {
      if (sections & (1 << bit)) text += `,"${name}":${this.parts.sections[bit]}`;
    }
    return `${text}}`;
  }
}
