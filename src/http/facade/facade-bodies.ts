// The bodies of the façade's reads, made once for each snapshot and kept with their ETags and compressed forms.
import { type V1Resource, writeEmptySection, writeSection, writeV1 } from "../../core/facade/v1-shapes.ts";
import { SECTIONS, type SectionSet } from "../../core/sections.ts";
import { Body } from "../../gateway/body.ts";
import { BODIES_MAX, type Snapshot } from "../../gateway/readings/snapshot.ts";

const known = new WeakMap<Snapshot, FacadeBodies>();

/** The bodies of a snapshot; they live as long as it does. */
export function facadeBodiesOf(snapshot: Snapshot): FacadeBodies {
  const found = known.get(snapshot) ?? new FacadeBodies(snapshot);
  known.set(snapshot, found);
  return found;
}

export class FacadeBodies {
  readonly #snapshot: Snapshot;
  readonly #bodies = new Map<string, Body>();

  constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot;
  }

  /** The state of the server; sections that are not `readable` are empty. */
  server(requested: SectionSet, readable: SectionSet): Body {
    const shown = requested & readable;
    return this.#keep(`${requested} ${shown}`, () => this.#assemble(requested, shown));
  }

  v1(resource: V1Resource): Body {
    return this.#keep(resource, () => writeV1(this.#snapshot.parts, resource));
  }

  #assemble(requested: SectionSet, shown: SectionSet): string {
    const { parts } = this.#snapshot;
    let text = parts.base;
    for (const [bit, name] of SECTIONS.entries()) {
      if (!(requested & (1 << bit))) continue;
      text += `,"${name}":${shown & (1 << bit) ? writeSection(parts, name) : writeEmptySection(name)}`;
    }
    return `${text}}`;
  }

  #keep(name: string, write: () => string): Body {
    const cached = this.#bodies.get(name);
    if (cached) return cached;
    const body = new Body(write());
    if (this.#bodies.size >= BODIES_MAX) {
      const oldest = this.#bodies.keys().next();
      if (!oldest.done) this.#bodies.delete(oldest.value);
    }
    this.#bodies.set(name, body);
    return body;
  }
}
