// Parses the stored rights of a key. The result is memoized, so that all keys with the same rights share one object.
import { createAddressList } from "../core/address.ts";
import type { Grant, Version } from "../core/api-key.ts";
import { memoize } from "../core/memoize.ts";
import type { SectionSet } from "../core/sections.ts";

const GRANTS_MAX = 1_000;
const TEXT_LENGTH_MAX = 2_000;

type Parts = [Version[], SectionSet, commands: string[], ipAllow: string[], isSuspended: boolean];

/** The text is a JSON list: versions, sections, commands, addresses, whether the key is suspended. */
export const parseGrant = memoize<Grant>(
  (text) => {
    const [versions, sections, commands, ipAllow, isSuspended] = JSON.parse(text) as Parts;
    const allowedFrom = ipAllow.length === 0 ? null : createAddressList(ipAllow);
    return { versions, sections, commands, allowedFrom, isSuspended };
  },
  GRANTS_MAX,
  TEXT_LENGTH_MAX,
);
