// Shows single facts about a player: place, permission, wanted stars.
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { Location } from "../../core/wire/server-info.ts";

/** The maximum in the game; more stars are written as a number. */
const STARS_DRAWN_MAX = 5;

/** The postal code comes first, because players use it on the radio. */
export function describePlace(place: Location | undefined): string | undefined {
  const street = [place?.BuildingNumber, place?.StreetName].filter(Boolean).join(" ");
  const text = [place?.PostalCode, street].filter(Boolean).join(" · ");
  return text === "" ? undefined : text;
}

const PERMISSIONS = [
  "Normal",
  "Server Helper",
  "Server Moderator",
  "Server Administrator",
  "Server Co-Owner",
  "Server Owner",
] as const;

/** Translates a permission; an unknown one keeps the name of the game. */
export function usePermissionName(): (permission: string) => string {
  const { t } = useTranslation("players");
  return useMemo(
    () => (permission) => {
      const known = PERMISSIONS.find((name) => name === permission);
      return known === undefined ? permission : t(`permission.${known}`);
    },
    [t],
  );
}

export function StarsCell({ count }: { readonly count: number }) {
  const { t } = useTranslation("players");
  const isDrawn = typeof count === "number" && count > 0 && count <= STARS_DRAWN_MAX;
  return (
    <span className="stars">
      <span aria-hidden>{isDrawn ? "★".repeat(count) : `★ ${count}`}</span>
      <span className="visually-hidden">{t("stars", { n: count })}</span>
    </span>
  );
}
