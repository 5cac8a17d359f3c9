// The TypeScript type of a wire schema.
import type Type from "typebox";

/** The type of a schema, read-only at every depth, because bodies are never changed. */
export type Static<S extends Type.TSchema> = DeepReadonly<Type.Static<S>>;

type DeepReadonly<T> = T extends object ? { readonly [Name in keyof T]: DeepReadonly<T[Name]> } : T;
