// The TypeScript type of a wire schema.
import type Type from "typebox";

/** What a schema describes, read-only at every depth: nobody changes a body that was sent or received. */
export type Static<S extends Type.TSchema> = DeepReadonly<Type.Static<S>>;

type DeepReadonly<T> = T extends object ? { readonly [Name in keyof T]: DeepReadonly<T[Name]> } : T;
